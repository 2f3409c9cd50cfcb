//! The fio job that measures what a fit needs.

use std::fmt::Write as _;

/// Cells of the probe: name, operation, size, depth, processes.
const READS: [(&str, &str, &str, u32, u32); 8] = [
    ("read-4k-1", "randread", "4k", 1, 1),
    ("read-4k-16", "randread", "4k", 16, 1),
    ("read-4k-32", "randread", "4k", 32, 1),
    ("read-4k-256", "randread", "4k", 256, 1),
    ("read-4k-256x4", "randread", "4k", 256, 4),
    ("read-8k-1", "randread", "8k", 1, 1),
    ("read-64k-1", "randread", "64k", 1, 1),
    ("read-64k-32", "randread", "64k", 32, 1),
];
const WRITES: [(&str, &str, &str, u32, u32); 4] = [
    ("write-4k-1", "randwrite", "4k", 1, 1),
    ("write-4k-32", "randwrite", "4k", 32, 1),
    ("write-128k-1", "write", "128k", 1, 1),
    ("write-128k-32", "write", "128k", 32, 1),
];

/// A fio job of at most ten cells, reads only unless `writes`; with writes two of the reads are left out.
pub fn probe(writes: bool) -> String {
    let mut text = String::from(
        "# Run it as root on the whole drive, filled the way that your data fill it:\n\
         #   fio --filename=/dev/nvme0n1 --output-format=json --output=probe.json probe.fio\n\
         #   ileave drives fit probe.json --name \"My drive 1TB\" --out my-drive.toml\n",
    );
    text += if writes {
        "# It WRITES to the drive: everything on it is lost.\n"
    } else {
        "# It only reads.\n"
    };
    text += "[global]\nioengine=io_uring\ndirect=1\ntime_based=1\nruntime=20\nramp_time=2\n\
             norandommap=1\nrandrepeat=0\ngroup_reporting=1\nstonewall=1\n";
    let reads =
        READS.iter().filter(|cell| !writes || !matches!(cell.0, "read-4k-16" | "read-8k-1"));
    let written = WRITES.iter().filter(|_| writes);
    for (name, rw, bs, depth, jobs) in reads.chain(written) {
        let _ = write!(text, "\n[{name}]\nrw={rw}\nbs={bs}\niodepth={depth}\nnumjobs={jobs}\n");
    }
    text
}
