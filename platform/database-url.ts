/** A server that a DATABASE_URL names. */
export interface DatabaseServer {
  readonly host: string;
  readonly port: number;
}

interface DatabaseAddress {
  /** Empty when the URL names one server: pg reads that itself. */
  readonly servers: readonly DatabaseServer[];
  /** The same URL for the first server alone, as libraries understand it. */
  readonly firstUrl: string;
  /** Servers and name of the database, for messages: `host:port/name`. */
  readonly place: string;
}

/**
 * Reads a DATABASE_URL: a libpq URI, which may name several servers
 * (`postgresql://user:password@a:5432,b:5433/name?target_session_attrs=read-write`). Connections are made to the one
 * that is the primary; `target_session_attrs` may say so (`read-write`, `primary`), and nothing else. Throws an Error
 * that says what is wrong and shows no part of the URL.
 */
export function parseDatabaseUrl(url: string): DatabaseAddress {
  const [, start = '', hosts = '', rest = ''] = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/s.exec(url) ?? [];
  if (start === '') throw new Error('must be a postgresql:// address');
  const attributes = /[?&]target_session_attrs=([^&]*)/.exec(rest)?.[1] ?? 'read-write';
  if (attributes !== 'read-write' && attributes !== 'primary') {
    throw new Error('its target_session_attrs must be read-write or primary: nothing works on a standby');
  }
  // pg takes a parameter that it does not know for a setting of its own.
  const parameters = rest.replace(/([?&])target_session_attrs=[^&]*&?/, '$1').replace(/[?&]$/, '');
  const names = hosts.split(',');
  const servers = names.length > 1 ? names.map(readServer) : [];
  const firstUrl = `${start}${names[0]}${parameters}`;
  // With a password that has a slash, the host would be the user. Without a host, pg reads the one of `?host=`.
  if (/[@#]/.test(rest) || !isUrl(firstUrl.replace('@/', '@host/'))) {
    throw new Error('must be postgresql://user:password@host:port/name, other characters written like / as %2F');
  }
  return { servers, firstUrl, place: `${hosts}${rest.replace(/\?.*/s, '')}` };
}

function isUrl(text: string): boolean {
  try {
    const { username, password, pathname } = new URL(text);
    decodeURIComponent(username + password + pathname);
    return true;
  } catch {
    return false;
  }
}

function readServer(name: string): DatabaseServer {
  const [, bracketed, plain = '', port = '5432'] =
    /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(name) ?? [];
  const host = bracketed ?? plain;
  if (host === '' || Number(port) < 1 || Number(port) > 65_535) {
    throw new Error('must name several servers as host:port,host:port');
  }
  return { host, port: Number(port) };
}
