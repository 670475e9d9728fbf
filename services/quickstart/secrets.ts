/** The credentials between the processes of one DATA_DIR, generated on the first start. None has a default. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { readPrivateJson, writePrivateFile } from './data-dir.ts';

const token = z.string().min(32);
const schema = z.object({
  encryptionKeys: token,
  databasePassword: token,
  superuserPassword: token,
  gatewayToken: token,
  serviceToken: token,
  operatorToken: token,
  metricsToken: token,
  processorToken: token,
  processorCredential: token,
  stripeToken: token,
  stripeCredential: token,
});

/**
 * Bearer tokens, the encryption keys of core and the passwords of the embedded database: the service's role and the
 * superuser.
 */
export type Secrets = z.output<typeof schema>;

/** Reads the secrets of a DATA_DIR, or generates them; a DATA_DIR of 1.0.0 has no `metricsToken` yet. */
export async function keepSecrets(dataDir: string): Promise<Secrets> {
  const path = `${dataDir}/secrets.json`;
  const kept = await readPrivateJson(path);
  if (kept === undefined) {
    const tokens = Object.keys(schema.shape).map((name) => [name, drawToken()]);
    const encryptionKeys = `k1:${randomBytes(32).toString('base64')}`;
    return store(path, { ...Object.fromEntries(tokens), encryptionKeys } as Secrets);
  }
  const known = z.record(z.string(), z.unknown()).safeParse(kept).data ?? {};
  const parsed = schema.safeParse({ metricsToken: drawToken(), ...known });
  if (parsed.success) return Object.hasOwn(known, 'metricsToken') ? parsed.data : store(path, parsed.data);
  throw new Error(`${path} is damaged: ${parsed.error.issues.map((issue) => issue.path.join('.')).join(', ')}`);
}

function drawToken(): string {
  return randomBytes(32).toString('base64url');
}

async function store(path: string, secrets: Secrets): Promise<Secrets> {
  await writePrivateFile(path, `${JSON.stringify(secrets, null, 2)}\n`);
  return secrets;
}
