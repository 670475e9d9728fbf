import { useEffect, useState } from 'preact/hooks';

/** Where the reader is: `#/holds/0199…?status=FAILED` is `{ path: ['holds', '0199…'], query }`. */
export function useRoute() {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = () => {
      arrive();
      setHash(location.hash);
    };
    addEventListener('hashchange', follow);
    // It may have changed before this listened.
    follow();
    return () => removeEventListener('hashchange', follow);
  }, []);
  return readRoute(hash);
}

function readRoute(hash) {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  return { path: path.split('/').filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

/** A part of an address; as it is written where it cannot be decoded. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The address of a view, for a link. Queries without a value are left out. */
export function linkTo(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value);
  const search = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${search && `?${search}`}`;
}

export function here() {
  return readRoute(location.hash).path;
}

/**
 * What is remembered about each entry of the browser's history, so that going back leads to the same place of a list:
 * how far it was scrolled, and how many pages of the list were read.
 */
const places = new Map();

/** What is remembered about this one. */
export let place = { scrollY: 0, pages: 1 };

/** Where to scroll once the list is there again. */
let wanted = 0;

/** Names the entry of the history at the first visit. Called whenever the address has changed. */
function arrive() {
  if (wanted === 0) place.scrollY = scrollY;
  if (!places.has(history.state)) {
    history.replaceState(Math.random(), '');
    places.set(history.state, { scrollY: 0, pages: 1 });
  }
  place = places.get(history.state);
  wanted = place.scrollY;
  scrollTo(0, wanted);
}

/** Goes to where the reader was, once what stood there is shown again. */
export function settle() {
  if (wanted > 0) scrollTo(0, wanted);
  wanted = 0;
}

history.scrollRestoration = 'manual';
