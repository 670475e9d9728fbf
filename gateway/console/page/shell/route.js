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

/** Reads the part of an address that names a view. */
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

/** The path of the view that is shown. */
export function here() {
  return readRoute(location.hash).path;
}

/**
 * Where the reader was on each page of the browser's history, so that going back leads to the same place of the same
 * list.
 */
const places = new Map();
let current;
/** Where to scroll once the list is there again. */
let wanted = 0;

/**
 * Names this entry of the history, unless it has its name from an earlier visit. Called whenever the address has
 * changed.
 */
function arrive() {
  const isReturn = places.has(history.state?.place);
  if (!isReturn) history.replaceState({ place: crypto.getRandomValues(new Uint32Array(2)).join('-') }, '');
  current = history.state.place;
  if (!isReturn) places.set(current, {});
  const { scrollY = 0 } = places.get(current);
  wanted = isReturn ? scrollY : 0;
  scrollTo(0, wanted);
}

/** What a list remembers about this place: how many of its pages were read. */
export function recall() {
  return places.get(current) ?? {};
}

/** Remembers something about this place. */
export function remember(change) {
  places.set(current, { ...places.get(current), ...change });
}

/** Goes to where the reader was, once what stood there is shown again. */
export function settle() {
  if (wanted > 0) scrollTo(0, wanted);
  wanted = 0;
}

history.scrollRestoration = 'manual';
addEventListener('scroll', () => wanted === 0 && remember({ scrollY }), { passive: true });
