//! The catalogue, the experiments and the published tables are built into the program: what embeds one of
//! these folders takes its path from here, as `$EMBEDDED_DRIVES`. So a folder that is not in the list
//! cannot be embedded, and a change of one that is rebuilds the program.

fn main() {
    for folder in ["drives", "hosts", "controllers", "trees", "experiments", "published"] {
        let path = format!("{}/../../{folder}", env!("CARGO_MANIFEST_DIR"));
        println!("cargo::rerun-if-changed={path}");
        println!("cargo::rustc-env=EMBEDDED_{}={path}", folder.to_uppercase());
    }
}
