//! Values of an enum and their names, as one table.

/// Names all values of an enum: `ALL`, `as_str` and `Display`.
macro_rules! names {
    ($type:ident { $($value:ident: $name:literal),+ $(,)? }) => {
        impl $type {
            /// All of them.
            pub const ALL: [$type; [$($name),+].len()] = [$($type::$value),+];

            /// The name in results.
            pub fn as_str(self) -> &'static str {
                match self {
                    $($type::$value => $name,)+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}
pub(crate) use names;

/// Names all values of a setting: `Display` and `FromStr`. `$why` says what it must be.
macro_rules! setting {
    ($type:ident, $setting:literal, $why:literal, { $($value:ident: $name:literal),+ $(,)? }) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self {
                    $($type::$value => $name,)+
                })
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::spec::error::Error;

            fn from_str(text: &str) -> $crate::spec::error::Result<Self> {
                match text {
                    $($name => Ok($type::$value),)+
                    _ => Err(Self::Err::BadSetting { setting: $setting, value: text.into(), why: $why.into() }),
                }
            }
        }
    };
}
pub(crate) use setting;
