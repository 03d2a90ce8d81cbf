//! Generates the Rust code from the `.proto` files with `protox`, a compiler written in Rust, so that no
//! `protoc` has to be installed.

use std::{env, path::PathBuf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files = ["argosy/v1/fleet.proto"];
    for file in files {
        println!("cargo:rerun-if-changed={file}");
    }
    let descriptors = protox::compile(files, ["."])?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    tonic_prost_build::configure().out_dir(out).bytes(".argosy.v1").compile_fds(descriptors)?;
    Ok(())
}
