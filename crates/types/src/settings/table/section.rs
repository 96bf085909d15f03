//! The macro that makes constants and a table of the same rows.

/// Declares the settings of one section: a constant for each, and `SECTION` with all of them.
macro_rules! section {
    (
        $title:literal:
        $($(#[doc = $doc:literal])+ $name:ident: $type:ty = $key:literal, $kind:expr, $preset:expr, $since:literal;)+
    ) => {
        $(
            $(#[doc = $doc])+
            pub const $name: $crate::settings::Setting<$type> = $crate::settings::Setting::new(
                $crate::settings::Entry {
                    key: $key,
                    kind: $kind,
                    preset: $preset,
                    // A doc comment keeps the blank after its slashes.
                    doc: concat!($($doc),+).trim_ascii_start(),
                    since: $since,
                },
            );
        )+

        pub(in crate::settings) const SECTION: $crate::settings::Section =
            $crate::settings::Section { title: $title, entries: &[$($name.entry()),+] };
    };
}
