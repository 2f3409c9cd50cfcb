//! Volumes over volumes: LVM on an array of md.

use super::{HeldVolume, Inventory};

impl Inventory {
    /// Gives each volume that lies on one array what that array is, and leaves out, with a note, what lies on several.
    pub(super) fn look_through(&mut self) {
        // Each round takes what lies above an array one floor down.
        for _ in 0..self.volumes.len() {
            let lie_on: Vec<Option<usize>> =
                self.volumes.iter().map(|volume| self.lies_on(volume)).collect();
            if lie_on.iter().all(Option::is_none) {
                break;
            }
            for (place, below) in lie_on.into_iter().enumerate() {
                let Some(below) = below.filter(|&below| below != place) else { continue };
                let below = self.volumes[below].clone();
                let volume = &mut self.volumes[place];
                let name = std::mem::take(&mut volume.name);
                let said = format!("{name} lies on {}, which this is", below.name);
                *volume = HeldVolume { name, ..below };
                volume.said.insert(0, said);
            }
        }
        let is_over_several: Vec<bool> =
            self.volumes.iter().map(|volume| self.is_over_volumes(volume)).collect();
        let mut place = 0..;
        let notes = &mut self.notes;
        self.volumes.retain(|volume| {
            let is_left_out = is_over_several[place.next().expect("one for each volume")];
            if is_left_out {
                let members = volume.members.join(", ");
                notes.push(format!(
                    "{} lies on {members}, not all disks, and is not read",
                    volume.name
                ));
            }
            !is_left_out
        });
    }

    /// The only volume that `volume` lies on.
    fn lies_on(&self, volume: &HeldVolume) -> Option<usize> {
        let [member] = volume.members.as_slice() else { return None };
        self.volume_of(member)
    }

    fn is_over_volumes(&self, volume: &HeldVolume) -> bool {
        volume.members.iter().any(|member| self.volume_of(member).is_some())
    }

    /// The volume that a member of another is, by its name, by its number, or as what its partition is on. A disk of that
    /// name goes first: a volume of LVM may be called `sde`, too.
    fn volume_of(&self, member: &str) -> Option<usize> {
        let called = |name: &str| self.volumes.iter().position(|volume| volume.name == name);
        if self.disks.iter().any(|disk| disk.device == member) {
            return None;
        }
        called(member).or_else(|| called(self.aliases.get(member)?))
    }
}
