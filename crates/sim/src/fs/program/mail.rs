//! A mail store with a file for each message (maildir): messages are delivered durably, and collected.
//!
//! ```text
//! deliver   create mailbox/tmp/7, write, fsync, close, rename to mailbox/new/7     after maildir(5)
//! collect   list mailbox/new, read each message, remove it                         as POP3 does
//! ```
//!
//! What a message says is on the disk when its delivery ends: who accepts mail may not lose it. Its new name is not waited
//! for: after a crash it may still be in `tmp`.

use super::read_to_end;
use crate::fs::{Files, FsError};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use std::rc::Rc;

/// The sizes of messages in turn, in KiB: four in ten of 4, three of 8, two of 16 and one of 64, 13.6 KiB in the mean. An
/// assumption.
const SIZES_KIB: [u64; 10] = [4, 8, 4, 16, 4, 8, 4, 16, 8, 64];
/// The size of reads, in bytes.
const READ_BYTES: u64 = 65_536;

/// The parameters of a mail store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MailSpec {
    /// Messages.
    pub messages: u64,
    /// Mailboxes, each with its directories.
    pub mailboxes: u64,
    /// Who delivers at once; as many collect at once.
    pub agents: u64,
}

/// A message and the mailbox that it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Letter {
    /// The message's number, from 0.
    pub message: u64,
    /// The mailbox's, from 0.
    pub mailbox: usize,
}

/// The directories of a mailbox.
#[derive(Clone, Copy, Debug)]
pub struct Mailbox<D> {
    /// Where messages are written.
    tmp: D,
    /// Where whole messages are.
    new: D,
}

impl MailSpec {
    /// What each agent delivers, in order; mailboxes are drawn. It depends on `seed` alone.
    pub fn deliveries(&self, seed: u64) -> Vec<Vec<Letter>> {
        let mut random = Pcg64Mcg::new(u128::from(seed) << 1 | 1);
        let mut lists = vec![Vec::new(); self.agents as usize];
        for message in 0..self.messages {
            let mailbox = (u128::from(random.next_u64()) * u128::from(self.mailboxes)) >> 64;
            lists[(message % self.agents) as usize]
                .push(Letter { message, mailbox: mailbox as usize });
        }
        lists
    }

    /// The mailboxes that each agent collects from, in order.
    pub fn collections(&self) -> Vec<Vec<usize>> {
        let of = |agent| (agent..self.mailboxes).step_by(self.agents as usize);
        (0..self.agents).map(|agent| of(agent).map(|mailbox| mailbox as usize).collect()).collect()
    }

    /// Bytes of all messages.
    pub fn bytes(&self) -> u64 {
        (0..self.messages).map(bytes_of).sum()
    }
}

fn bytes_of(message: u64) -> u64 {
    1024 * SIZES_KIB[(message % SIZES_KIB.len() as u64) as usize]
}

fn mailbox_name(mailbox: u64) -> String {
    format!("user{mailbox}")
}

/// Makes the mailboxes.
///
/// # Errors
///
/// As the calls.
pub async fn make<F: Files>(files: F, spec: MailSpec) -> Result<(), FsError> {
    for mailbox in 0..spec.mailboxes {
        let directory = files.mkdir(files.root(), &mailbox_name(mailbox)).await?;
        files.mkdir(directory, "tmp").await?;
        files.mkdir(directory, "new").await?;
    }
    files.sync().await
}

/// Opens the mailboxes that [`make()`] has made.
///
/// # Errors
///
/// As the calls.
pub async fn open<F: Files>(
    files: F,
    spec: MailSpec,
) -> Result<Rc<[Mailbox<F::Directory>]>, FsError> {
    let mut mailboxes = Vec::with_capacity(spec.mailboxes as usize);
    for mailbox in 0..spec.mailboxes {
        let directory = files.open_directory(files.root(), &mailbox_name(mailbox)).await?;
        mailboxes.push(Mailbox {
            tmp: files.open_directory(directory, "tmp").await?,
            new: files.open_directory(directory, "new").await?,
        });
    }
    Ok(mailboxes.into())
}

/// Delivers the messages of one list.
///
/// # Errors
///
/// As the calls.
pub async fn deliver<F: Files>(
    files: F,
    mailboxes: Rc<[Mailbox<F::Directory>]>,
    list: Vec<Letter>,
) -> Result<(), FsError> {
    for Letter { message, mailbox } in list {
        let Mailbox { tmp, new } = mailboxes[mailbox];
        let name = message.to_string();
        let file = files.create(tmp, &name).await?;
        files.write(&file, 0, bytes_of(message)).await?;
        files.fsync(&file).await?;
        files.close(file).await;
        files.rename((tmp, &name), (new, &name)).await?;
    }
    Ok(())
}

/// Reads and removes what is in the mailboxes of one list.
///
/// # Errors
///
/// As the calls.
pub async fn collect<F: Files>(
    files: F,
    mailboxes: Rc<[Mailbox<F::Directory>]>,
    list: Vec<usize>,
) -> Result<(), FsError> {
    for mailbox in list {
        let Mailbox { new, .. } = mailboxes[mailbox];
        for message in files.readdir(new).await? {
            let file = files.open(new, &message.name).await?;
            read_to_end(&files, &file, READ_BYTES).await?;
            files.close(file).await;
            files.unlink(new, &message.name).await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_message_is_delivered_once_and_every_mailbox_collected_once() {
        for (messages, mailboxes, agents) in [(1, 1, 1), (1000, 7, 5), (20, 40, 16), (3, 2, 8)] {
            let spec = MailSpec { messages, mailboxes, agents };
            let lists = spec.deliveries(1);
            assert_eq!((lists.len() as u64, &lists), (agents, &spec.deliveries(1)));
            let letters: Vec<Letter> = lists.concat();
            assert!(letters.iter().all(|letter| (letter.mailbox as u64) < mailboxes));
            let all: BTreeSet<u64> = letters.iter().map(|letter| letter.message).collect();
            assert_eq!((all.len(), letters.len()), (messages as usize, messages as usize));
            let mut collected = spec.collections().concat();
            collected.sort_unstable();
            assert_eq!(collected, (0..mailboxes as usize).collect::<Vec<_>>());
        }
        assert_ne!(
            MailSpec { messages: 50, mailboxes: 9, agents: 2 }.deliveries(1),
            MailSpec { messages: 50, mailboxes: 9, agents: 2 }.deliveries(2)
        );
    }

    #[test]
    fn a_message_is_of_13_6_kib_in_the_mean() {
        let spec = MailSpec { messages: 100, mailboxes: 1, agents: 1 };
        assert_eq!(spec.bytes(), 100 * 136 * 1024 / 10);
    }
}
