/** TLS of servers and channels: PEM files named by settings, read and checked once, at start. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { credentials, ServerCredentials } from '@grpc/grpc-js';

/**
 * A server's certificate and key. With `clientCa` every client must present a certificate issued by it (mutual TLS).
 */
export interface ServerTls {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly clientCa?: Buffer;
}

/** The authorities that a channel trusts, and its own certificate. */
export interface ChannelTls {
  /** Absent = the authorities that Node trusts. */
  readonly ca?: Buffer;
  readonly own?: { readonly cert: Buffer; readonly key: Buffer };
  /** The name in the peer's certificate, when it differs from the one in the address. */
  readonly name?: string;
}

const FILES = { ca: 'CA', cert: 'CERT', key: 'KEY', clientCa: 'CLIENT_CA', name: 'NAME' } as const;

/** Files of a server (`cert`, `key`, `clientCa`) or of a channel (`ca` or `system`, `cert`, `key`, and a `name`). */
type Files = { readonly [file in keyof typeof FILES]?: string | undefined };

/** The files that the settings `<prefix>_CA`, `_CERT`, `_KEY`, `_CLIENT_CA` and `_NAME` name. */
export function tlsFiles<P extends string>(
  prefix: P,
  settings: { readonly [name in `${P}_${(typeof FILES)[keyof typeof FILES]}`]?: string | undefined },
): Files {
  const given: Readonly<Record<string, string | undefined>> = settings;
  return Object.fromEntries(Object.entries(FILES).map(([file, name]) => [file, given[`${prefix}_${name}`]]));
}

/** Reads a server's files; undefined when none is set. Throws an Error of one line that names the wrong setting. */
export function readServerTls(prefix: string, files: Files): ServerTls | undefined {
  const own = readPair(prefix, files);
  if (files.clientCa !== undefined && !own) throw new Error(`${prefix}_CLIENT_CA needs ${prefix}_CERT`);
  if (!own) return undefined;
  return {
    ...own,
    ...(files.clientCa !== undefined && { clientCa: readCertificates(`${prefix}_CLIENT_CA`, files.clientCa) }),
  };
}

/** Reads a channel's files; undefined when none is set. Throws an Error of one line that names the wrong setting. */
export function readChannelTls(prefix: string, files: Files): ChannelTls | undefined {
  const { ca, name } = files;
  if (ca === undefined) {
    const orphan = (['cert', 'key', 'name'] as const).find((file) => files[file] !== undefined);
    if (orphan) throw new Error(`${prefix}_${FILES[orphan]} needs ${prefix}_CA`);
    return undefined;
  }
  const own = readPair(prefix, files);
  return {
    ...(ca !== 'system' && { ca: readCertificates(`${prefix}_CA`, ca) }),
    ...(own && { own }),
    ...(name !== undefined && { name }),
  };
}

/** Credentials of a grpc-js server. */
export function serverCredentials(tls: ServerTls | undefined, handshakeMs = HANDSHAKE_MS): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure();
  const pair = [{ cert_chain: tls.cert, private_key: tls.key }];
  return boundHandshake(
    ServerCredentials.createSsl(tls.clientCa ?? null, pair, tls.clientCa !== undefined),
    handshakeMs,
  );
}

/**
 * Node waits 120 s for a handshake, and grpc-js has no option for it. This adds one to the options that grpc-js passes
 * to Node, through a private method, which is why the package is pinned (test/platform/tls.test.ts).
 */
function boundHandshake(credentials: ServerCredentials, handshakeTimeout: number): ServerCredentials {
  const own = credentials as unknown as { _getConstructorOptions(): object };
  const original = own._getConstructorOptions();
  own._getConstructorOptions = () => ({ ...original, handshakeTimeout });
  return credentials;
}

/** Time limit of a TLS handshake. */
export const HANDSHAKE_MS = 10_000;

/** Credentials of a grpc-js channel, and the options that go with them. */
export function channelSecurity(tls: ChannelTls | undefined) {
  if (!tls) return { credentials: credentials.createInsecure(), options: {} };
  return {
    credentials: credentials.createSsl(tls.ca ?? null, tls.own?.key ?? null, tls.own?.cert ?? null),
    options:
      tls.name === undefined ? {} : { 'grpc.ssl_target_name_override': tls.name, 'grpc.default_authority': tls.name },
  };
}

function readPair(prefix: string, { cert, key }: Files) {
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined) throw new Error(`${prefix}_KEY needs ${prefix}_CERT`);
  if (key === undefined) throw new Error(`${prefix}_CERT needs ${prefix}_KEY`);
  const pair = { cert: readCertificates(`${prefix}_CERT`, cert), key: readPem(`${prefix}_KEY`, key) };
  if (!new X509Certificate(pair.cert).checkPrivateKey(privateKey(`${prefix}_KEY`, pair.key))) {
    throw new Error(`${prefix}_KEY does not belong to ${prefix}_CERT`);
  }
  return pair;
}

/** Rejects a file without a certificate, and one whose first certificate has expired: every peer would refuse it. */
function readCertificates(setting: string, file: string): Buffer {
  const pem = readPem(setting, file);
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(pem);
  } catch (cause) {
    throw new Error(`${setting}: the file holds no certificate in PEM`, { cause });
  }
  if (certificate.validToDate < new Date()) throw new Error(`${setting}: the certificate has ended`);
  return pem;
}

function privateKey(setting: string, pem: Buffer): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    throw new Error(`${setting}: the file holds no private key in PEM without a passphrase`, { cause });
  }
}

function readPem(setting: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new Error(`${setting}: the file cannot be read (${(cause as NodeJS.ErrnoException).code})`, { cause });
  }
}
