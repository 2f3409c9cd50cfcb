//! The catalogue, the experiments and the published tables are built into the program; a change of
//! their folders must rebuild it, which the macro that embeds them cannot tell cargo.

fn main() {
    for folder in ["drives", "hosts", "trees", "controllers", "experiments", "published"] {
        println!("cargo::rerun-if-changed=../../{folder}");
    }
}
