//! Docs.
use std::{fmt, io};

/* outer /* nested */ { still */
pub const LIMIT: usize = 10;
static mut COUNT: u32 = 0;
type Pair<T> = (T, T);

#[derive(Debug, Clone)]
pub struct Buffer<'a, T: 'a + Clone> {
    data: &'a [T],
}

pub struct Unit;
pub(crate) struct Wrapper(u32);

pub enum Event { Key(char), Quote { text: String } }

impl<'a, T> fmt::Display for Buffer<'a, T>
where
    T: fmt::Debug + Clone,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let raw = r#"a "quoted" { "#;
        let c = '{';
        let q = '\'';
        write!(f, "{{{}}}", raw.len() + c as usize + q as usize)
    }
}

impl<T> Buffer<'_, T> {
    pub const EMPTY: usize = 0;

    #[inline(always)]
    pub(super) const unsafe extern "C" fn raw(&self) -> *const T { self.data.as_ptr() }

    pub async fn read<R>(
        &mut self,
        r: R,
    ) -> io::Result<usize>
    where
        R: io::Read,
    {
        Ok(0)
    }
}

pub trait Source: Send {
    type Item;
    fn next(&mut self) -> Option<Self::Item>;
}

macro_rules! maybe {
    ($x:expr) => { if let Some(y) = $x { y } };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn works() { assert_eq!(LIMIT, 10); }
}
