//! Structs whose fields are keys, and enums whose variants are words: one definition of each.

/// A struct with one field for each key. The field's documentation is the key's help.
///
/// ```text
/// keys! {
///     /// The keys of a strided workload.
///     pub struct Strided {
///         /// Gap after each block
///         gap_sectors: Option<u64> = load("gap", SIZE_OR_ZERO),
///         /// Size of a block
///         block_sectors: u64 = load("block", SIZE).default("8KiB"),
///     }
/// }
/// ```
///
/// A key without a default fills an `Option`. The macro gives the struct, `Strided::KEYS`, and `Strided::read(&Section)`.
macro_rules! keys {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $( $(#[doc = $help:literal])+ $field:ident: $type:ty = $key:expr, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        $vis struct $name {
            $( $(#[doc = $help])+ $vis $field: $type, )*
        }

        impl $name {
            /// Its keys, in the order in which they are listed.
            $vis const KEYS: &'static [$crate::keys::Key] =
                &[ $( $key.help(concat!($($help),+)), )* ];

            /// Reads it from a section of an experiment, whose values have been checked.
            $vis fn read(section: &$crate::keys::Section<'_>) -> Self {
                // Keys and fields are from one list.
                let mut keys = Self::KEYS.iter();
                $name {
                    $( $field: section.read(keys.next().expect("a key for each field")), )*
                }
            }
        }
    };
}

/// An enum with one variant for each word that a key takes.
macro_rules! words {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $( $(#[doc = $help:literal])+ $variant:ident = $word:literal, )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $name {
            $( $(#[doc = $help])+ $variant, )+
        }

        impl $name {
            /// What a key of it takes: one of its words.
            pub const TAKES: $crate::keys::Takes =
                $crate::keys::Takes::words::<Self>();

            /// Its word.
            pub const fn word(self) -> &'static str {
                match self {
                    $( $name::$variant => $word, )+
                }
            }
        }

        $crate::keys::words! { impl $name { $( $variant = $word, )+ } }
    };
    // The words of an enum that is defined elsewhere.
    (impl $name:ty { $( $variant:ident = $word:literal, )+ }) => {
        impl $crate::keys::Word for $name {
            const WORDS: &'static [&'static str] = &[ $($word),+ ];

            fn of_word(word: &str) -> Option<Self> {
                match word {
                    $( $word => Some(<$name>::$variant), )+
                    _ => None,
                }
            }
        }

        impl $crate::keys::FromValue for $name {
            fn from_value(value: &$crate::keys::Value) -> Option<Self> {
                match value {
                    $crate::keys::Value::Text(text) => $crate::keys::Word::of_word(text),
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use {keys, words};
