import { useEffect, useState } from 'preact/hooks';
import { arrive } from './place.js';

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
export function readRoute(hash) {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  return { path: path.split('/').filter(Boolean).map(decodeURIComponent), query: new URLSearchParams(query) };
}

/** The address of a view, for a link. Queries without a value are left out. */
export function linkTo(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value);
  const search = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${search && `?${search}`}`;
}

/** Goes to a view. */
export function goTo(path, query) {
  location.hash = linkTo(path, query);
}
