/** TLS of doors and channels: PEM files named by settings, read and checked once, at start. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type ChannelCredentials, type ChannelOptions, credentials, ServerCredentials } from '@grpc/grpc-js';

/** Files of a door, as the settings `<prefix>_CERT`, `_KEY` and `_CLIENT_CA` name them. */
export interface DoorFiles {
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly clientCa?: string | undefined;
}

/** What a door shows, and whom it trusts. With `clientCa` every caller must show a certificate of it (mutual TLS). */
export interface DoorTls {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly clientCa?: Buffer;
}

/** Files of a channel: the settings `<prefix>_CA` (or `system`), `_CERT`, `_KEY`; and `_NAME`. */
export interface ChannelFiles {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly name?: string | undefined;
}

/** Whom a channel trusts, and what it shows. */
export interface ChannelTls {
  /** Absent = the authorities that Node trusts. */
  readonly ca?: Buffer;
  readonly own?: { readonly cert: Buffer; readonly key: Buffer };
  /** The name in the peer's certificate, when it is not the one in the address. */
  readonly name?: string;
}

/** Reads a door's files; undefined when none is set. Throws an Error of one line that names the wrong setting. */
export function readDoorTls(prefix: string, files: DoorFiles): DoorTls | undefined {
  const own = readPair(prefix, files);
  if (files.clientCa !== undefined && !own) throw new Error(`${prefix}_CLIENT_CA needs ${prefix}_CERT`);
  if (!own) return undefined;
  return {
    ...own,
    ...(files.clientCa !== undefined && { clientCa: readCertificates(`${prefix}_CLIENT_CA`, files.clientCa) }),
  };
}

/** Reads a channel's files; undefined when none is set. Throws an Error of one line that names the wrong setting. */
export function readChannelTls(prefix: string, files: ChannelFiles): ChannelTls | undefined {
  const { ca, name } = files;
  if (ca === undefined) {
    const [orphan] = Object.entries({ CERT: files.cert, KEY: files.key, NAME: name }).filter(
      ([, value]) => value !== undefined,
    );
    if (orphan) throw new Error(`${prefix}_${orphan[0]} needs ${prefix}_CA`);
    return undefined;
  }
  const own = readPair(prefix, files);
  return {
    ...(ca !== 'system' && { ca: readCertificates(`${prefix}_CA`, ca) }),
    ...(own && { own }),
    ...(name !== undefined && { name }),
  };
}

/** A grpc-js server's credentials. */
export function doorCredentials(tls: DoorTls | undefined, handshakeMs = HANDSHAKE_MS): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure();
  const pair = [{ cert_chain: tls.cert, private_key: tls.key }];
  return boundHandshake(
    ServerCredentials.createSsl(tls.clientCa ?? null, pair, tls.clientCa !== undefined),
    handshakeMs,
  );
}

/**
 * Node waits 120 s for a handshake. grpc-js hands its credentials' constructor options to Node and has no option for this one, so it
 * is added to them; the method is private, which is why the package is pinned (test/proto/tls.test.ts).
 */
function boundHandshake(door: ServerCredentials, handshakeTimeout: number): ServerCredentials {
  const own = door as unknown as { _getConstructorOptions(): object };
  const original = own._getConstructorOptions();
  own._getConstructorOptions = () => ({ ...original, handshakeTimeout });
  return door;
}

/** Until a connection has shaken hands. */
export const HANDSHAKE_MS = 10_000;

/** A grpc-js channel's credentials, and the options that go with them. */
export function channelSecurity(tls: ChannelTls | undefined): {
  credentials: ChannelCredentials;
  options: ChannelOptions;
} {
  if (!tls) return { credentials: credentials.createInsecure(), options: {} };
  return {
    credentials: credentials.createSsl(tls.ca ?? null, tls.own?.key ?? null, tls.own?.cert ?? null),
    options:
      tls.name === undefined ? {} : { 'grpc.ssl_target_name_override': tls.name, 'grpc.default_authority': tls.name },
  };
}

function readPair(prefix: string, files: { cert?: string | undefined; key?: string | undefined }) {
  const { cert, key } = files;
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined) throw new Error(`${prefix}_KEY needs ${prefix}_CERT`);
  if (key === undefined) throw new Error(`${prefix}_CERT needs ${prefix}_KEY`);
  const pair = { cert: readCertificates(`${prefix}_CERT`, cert), key: readPem(`${prefix}_KEY`, key) };
  if (!new X509Certificate(pair.cert).checkPrivateKey(privateKey(`${prefix}_KEY`, pair.key))) {
    throw new Error(`${prefix}_KEY does not belong to ${prefix}_CERT`);
  }
  return pair;
}

/** The first certificate of a file must be one, and in its time: what is over would be refused by every peer. */
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
