//! Sorting with one body for all types: the standard library's is compiled for each, three
//! kilobytes a time.

use std::cmp::Ordering;

/// The places of `length` things in order. Things that are equal keep theirs.
pub fn places(length: usize, by: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..length).collect();
    places.sort_by(|a, b| by(*a, *b));
    places
}

/// The things in order. Things that are equal keep theirs.
pub fn sorted<T>(things: Vec<T>, by: impl Fn(&T, &T) -> Ordering) -> Vec<T> {
    let places = places(things.len(), &|a, b| match (things.get(a), things.get(b)) {
        (Some(a), Some(b)) => by(a, b),
        _ => Ordering::Equal,
    });
    let mut things: Vec<Option<T>> = things.into_iter().map(Some).collect();
    let take = |place| things.get_mut::<usize>(place)?.take();
    places.into_iter().filter_map(take).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_keep_their_places() {
        let things = vec![(2, 'a'), (1, 'b'), (2, 'c'), (1, 'd')];
        let things = sorted(things, |a, b| a.0.cmp(&b.0));
        assert_eq!(things, [(1, 'b'), (1, 'd'), (2, 'a'), (2, 'c')]);
        assert!(sorted(Vec::<u8>::new(), u8::cmp).is_empty());
    }
}
