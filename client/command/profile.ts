/** Where the service is and with which key it is called: the environment, or what `login` has stored. */
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { UsageError } from './usage.ts';

export interface Profile {
  readonly baseUrl: string;
  readonly apiKey: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The file with all profiles, for its owner only. */
function profilesFile(env: Environment): string {
  return join(env.XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'holdfast', 'profiles.json');
}

/** The profile to use. HOLDFAST_BASE_URL and HOLDFAST_API_KEY win. Throws UsageError when there is none. */
export async function readProfile(env: Environment, name: string): Promise<Profile> {
  const stored = (await readAll(env))[name];
  const baseUrl = env.HOLDFAST_BASE_URL ?? stored?.baseUrl;
  const apiKey = env.HOLDFAST_API_KEY ?? stored?.apiKey;
  if (baseUrl !== undefined && apiKey !== undefined) return { baseUrl, apiKey };
  throw new UsageError(`no profile ${name}: run holdfast login, or set HOLDFAST_BASE_URL and HOLDFAST_API_KEY`);
}

/** Stores a profile; the file is readable by its owner only. */
export async function storeProfile(env: Environment, name: string, profile: Profile): Promise<void> {
  const file = profilesFile(env);
  const profiles = { ...(await readAll(env)), [name]: profile };
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
  await chmod(file, 0o600);
}

async function readAll(env: Environment): Promise<Readonly<Record<string, Profile>>> {
  try {
    return JSON.parse(await readFile(profilesFile(env), 'utf8'));
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return {};
    throw error;
  }
}
