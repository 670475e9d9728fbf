import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';

export interface Service {
  readonly restart?: string;
  readonly command?: string | readonly string[];
  readonly image?: string;
  readonly deploy?: { readonly replicas: number };
  readonly build?: { readonly dockerfile_inline: string };
  readonly environment?: Readonly<Record<string, string>>;
  readonly configs?: readonly { readonly source: string; readonly target: string }[];
  readonly volumes?: readonly string[];
  readonly depends_on?: readonly string[];
}

export interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly configs: Readonly<Record<string, { readonly content: string }>>;
  readonly volumes: Readonly<Record<string, null>>;
}

/** `!reset` removes what the other file sets, `!override` replaces it. */
const customTags = [
  { tag: '!reset', collection: 'map' as const },
  { tag: '!override', collection: 'seq' as const },
];

/** Reads a compose file at the project's root. */
export async function readCompose(file: string): Promise<Compose> {
  const text = await readFile(new URL(`../../${file}`, import.meta.url), 'utf8');
  return parse(text, { merge: true, strict: true, customTags });
}
