/**
 * The request target in origin form (RFC 9112, section 3.2): the path as it was sent, and the query. The absolute form,
 * which every server must accept, loses its authority. Undefined for an invalid target: parsers behind this one would
 * fail on it, or read it as another path (they strip `#…` and some spaces).
 */
export function originForm(target: string): string | undefined {
  if (target === '*' || PATH_AND_QUERY.test(target)) return target;
  const [, authority = '', rest = ''] = ABSOLUTE.exec(target) ?? [];
  const pathAndQuery = rest.startsWith('/') ? rest : `/${rest}`;
  return PATH_AND_QUERY.test(pathAndQuery) && URL.canParse(`http://${authority}`) ? pathAndQuery : undefined;
}

/** Visible ASCII without `#`. */
const PATH_AND_QUERY = /^\/[\x21\x22\x24-\x7E]*$/;
const ABSOLUTE = /^https?:\/\/([^/?#@\\]+)((?:[/?].*)?)$/i;
