use super::*;
use sim::fs::program::tree::TreeFigures;

fn tree(text: &str) -> Tree {
    parse("list.txt", text).unwrap().tree
}

fn error(text: &str) -> String {
    parse("list.txt", text).unwrap_err().to_string()
}

/// Two directories and two files of 1234 and 5 bytes, one of them with blanks in its name.
fn expected() -> Tree {
    let mut tree = Tree::default();
    let source = tree.add_directory(None, "src");
    tree.add_file(Some(source), "a b.c", 1234);
    let below = tree.add_directory(Some(source), "below");
    tree.add_file(Some(below), "c", 5);
    tree
}

#[test]
fn what_tar_and_find_print_is_the_same_tree() {
    for text in [
        "drwxr-xr-x root/wheel         0 2005-08-02 12:34 src/\n\
         -rw-r--r-- root/wheel      1234 2005-08-02 12:34 src/a b.c\n\
         drwxr-xr-x root/wheel         0 2005-08-02 12:34:56.12 src/below/\n\
         -rw-r--r-- root/Domain Users  5 2005-08-02 12:34 src/below/c\n",
        "drwxr-xr-x  0 root   wheel       0 Aug  2  2005 src/\n\
         -rw-r--r--  0 root   wheel    1234 Aug  2 12:34 src/a b.c\n\
         drwxr-xr-x+ 0 root   wheel       0  2 Aug  2005 src/below/\n\
         -rw-r--r--  0 a user wheel       5 Aug  2 12:34 src/below/c\n",
        "drwxr-xr-x 0/0               0 Aug  2 12:34 1996 src/\n\
         -rw-r--r-- 0/0            1234 Aug  2 12:34 1996 src/a b.c\n\
         drwxr-xr-x 0/0               0 Aug  2 12:34 1996 src/below\n\
         -rw-r--r-- 0/0               5 Aug  2 12:34 1996 src/below/c\n",
        "d 4096 src\nf 1234 src/a b.c\nd 4096 src/below\nf 5 src/below/c\n",
        "d 4096 .\nd 4096 ./src\nf 1234 ./src/a b.c\nd 4096 ./src/below\nf 5 ./src/below/c\n",
        "f 1234 /src/a b.c\nf 5 //src/./below/c\r\n",
    ] {
        assert_eq!(parse("list.txt", text).unwrap(), Listed { tree: expected(), notes: vec![] });
    }
}

#[test]
fn a_name_may_look_like_anything() {
    for name in ["1996", "-> x", "12:34 Aug", "a link to b", " led by a blank", "ö", "x -> y"] {
        let mut tree_of_one = Tree::default();
        tree_of_one.add_file(None, name, 7);
        assert_eq!(tree(&format!("-rw-r--r-- 0 u g 7 Aug  2 12:34 {name}")), tree_of_one, "{name}");
        assert_eq!(tree(&format!("-rw-r--r-- u/g 7 2005-08-02 12:34 {name}")), tree_of_one);
        assert_eq!(tree(&format!("f 7 {name}")), tree_of_one);
    }
}

#[test]
fn links_and_devices_are_names_and_inodes() {
    let listed = parse(
        "list.txt",
        "lrwxrwxrwx u/g 0 2005-08-02 12:34 a -> ../out/b\n\
         hrw-r--r-- u/g 0 2005-08-02 12:34 b link to a\n\
         crw-rw-rw- root/root 1,3 2005-08-02 12:34 dev/null\n\
         prw-rw-rw-  0 root root 0 Aug  2  2005 pipe\n\
         V--------- 0/0 0 2005-08-02 12:34 label--Volume Header--\n\
         -rw-r--r-- u/g 9 2005-08-02 12:34 dev/null\n",
    )
    .unwrap();
    let mut expected = Tree::default();
    expected.add_file(None, "a", 0);
    expected.add_file(None, "b", 0);
    let devices = expected.add_directory(None, "dev");
    expected.add_file(Some(devices), "null", 0);
    expected.add_file(None, "pipe", 0);
    assert_eq!(listed.tree, expected);
    assert_eq!(
        listed.notes,
        [
            "symbolic links are taken as empty files, a name and an inode each (1)",
            "hard links are taken as empty files, a name and an inode each (1)",
            "devices, pipes and sockets are taken as empty files, a name and an inode each (2)",
            "repeated names are ignored (1)",
        ]
    );
    let huge = tree(&format!("f {} a\nf {} b", u64::MAX, u64::MAX)).figures();
    assert_eq!(huge, TreeFigures { files: 2, bytes: u64::MAX, large_bytes: u64::MAX, ..huge });
}

#[test]
fn what_cannot_be_says_where_and_what_to_do() {
    for (text, place, what) in [
        ("", "list.txt:", "it lists no files; make the list with `tar tvf ARCHIVE`"),
        ("\n\n", "list.txt:", "it lists no files"),
        ("d 4096 .\n", "list.txt:", "it lists no files"),
        (
            "d 0 a\nsrc/a.c\n",
            "list.txt:2:",
            "`src/a.c` is not a line of `tar tvf ARCHIVE` (with the v",
        ),
        ("f 12a a\n", "list.txt:1:", "`12a` is not a size in bytes"),
        ("f 99999999999999999999 a\n", "list.txt:1:", "below 2^64"),
        ("f -1 a\n", "list.txt:1:", "`-1` is not a size"),
        ("x 1 a\n", "list.txt:1:", "`x` does not start with a known file type"),
        ("f 1 ../a\n", "list.txt:1:", "`../a` leads out of the tree"),
        ("f 1 a\nf 1 a/b\n", "list.txt:2:", "`a` is not a directory in line 1"),
        ("f 1 \n", "list.txt:1:", "has no name"),
        ("-rw-r--r-- u/g 1 2.8.2005 12:34 a\n", "list.txt:1:", "`LC_ALL=C tar tvf ARCHIVE`"),
    ] {
        let error = error(text);
        assert!(error.starts_with(place) && error.contains(what), "{error}");
    }
    assert!(error(&format!("f 1 {}", "n".repeat(256))).contains("more than 255 bytes"));
    assert!(error(&format!("f 1 {}b", "a/".repeat(600))).contains("more than 512 directories"));
}
