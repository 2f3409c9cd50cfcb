//! Structs whose fields are figures: one definition of each.

/// A struct with one field for each figure. The field's documentation is the figure's meaning, for people.
///
/// ```text
/// figures! {
///     /// The figures of a fan.
///     pub struct FanFigures {
///         /// rotational speed
///         rpm: f64 = figure("rpm", "rpm", Shape::Number(60.0..=20_000.0)),
///         /// number of blades
///         blades: u32 = figure("blades", "", Shape::Count(1..=100)).default("7"),
///         /// rated noise
///         noise_db: Option<f64> = figure("noise_db", "dB", Shape::Number(0.0..=150.0)).or("not known"),
///     }
/// }
/// ```
///
/// A figure with `or` fills an `Option`. The macro gives the struct, `FanFigures::FIGURES`, and
/// `FanFigures::read(&Sheet)`.
macro_rules! figures {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $( $(#[doc = $meaning:literal])+ $field:ident: $type:ty = $figure:expr, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        $vis struct $name {
            $( $(#[doc = $meaning])+ $vis $field: $type, )*
        }

        impl $name {
            /// Its figures, in the order in which they are listed.
            pub(in crate::catalogue) const FIGURES: &'static [$crate::catalogue::Figure] =
                &[ $( $figure.meaning(concat!($($meaning),+)), )* ];

            /// Takes the figures from a file, which has been checked.
            pub(in crate::catalogue) fn read(sheet: &$crate::catalogue::sheet::Sheet) -> Self {
                // Figures and fields are from one list.
                let mut figures = Self::FIGURES.iter();
                $name {
                    $( $field: sheet.take(figures.next().expect("a figure for each field")), )*
                }
            }
        }
    };
}

pub(super) use figures;
