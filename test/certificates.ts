/**
 * Creates certificates for TLS tests: an authority, a server certificate for this machine, and a client certificate.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { generate } from 'selfsigned';

/** A certificate and its key, as PEM files. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

export interface Certificates {
  /** The authority's certificate. */
  readonly ca: string;
  /** For 127.0.0.1, localhost and core.test. */
  readonly server: CertificateFiles;
  readonly client: CertificateFiles;
  /** A client certificate of an authority that no server here trusts. */
  readonly stranger: CertificateFiles;
  /** An expired server certificate. */
  readonly ended: CertificateFiles;
  /** Writes another file into the same directory. */
  write(name: string, text: string): Promise<string>;
  close(): Promise<void>;
}

/** Creates them in a new directory. */
export async function makeCertificates(): Promise<Certificates> {
  const directory = await mkdtemp(`${tmpdir()}/holdfast-certificates-`);
  const write = async (name: string, text: string) => {
    await writeFile(`${directory}/${name}`, text, { mode: 0o600 });
    return `${directory}/${name}`;
  };
  const authority = await issue('authority', { extensions: AUTHORITY });
  const ca = { key: authority.private, cert: authority.cert };
  const save = async (name: string, options: Options) => {
    const { cert, private: key } = await issue(name, options);
    return { cert: await write(`${name}.pem`, cert), key: await write(`${name}.key`, key) };
  };
  const longAgo = { notBeforeDate: new Date('2020-01-01'), notAfterDate: new Date('2020-02-01') };
  return {
    ca: await write('ca.pem', authority.cert),
    server: await save('server', { ca, extensions: SERVER }),
    client: await save('client', { ca }),
    stranger: await save('stranger', {}),
    ended: await save('ended', { ca, extensions: SERVER, ...longAgo }),
    write,
    close: () => rm(directory, { recursive: true }),
  };
}

type Options = NonNullable<Parameters<typeof generate>[1]>;

function issue(commonName: string, options: Options) {
  const attributes = [{ name: 'commonName', value: commonName }];
  return generate(attributes, { keyType: 'ec', curve: 'P-256', algorithm: 'sha256', ...options });
}

const AUTHORITY: NonNullable<Options['extensions']> = [
  { name: 'basicConstraints', cA: true, critical: true },
  { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
];
const SERVER: NonNullable<Options['extensions']> = [
  { name: 'basicConstraints', cA: false },
  {
    name: 'subjectAltName',
    altNames: [
      { type: 2, value: 'localhost' },
      { type: 2, value: 'core.test' },
      { type: 7, ip: '127.0.0.1' },
    ],
  },
];
