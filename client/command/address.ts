import { UsageError } from './usage-error.ts';

/**
 * The address of a receiver, without a slash at its end: as for a webhookUrl it has no user name and no query, since a
 * delivery's path is appended. Throws UsageError, which calls it `name`.
 */
export function readAddress(name: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.username + url.password + url.search + url.hash === '')
    return url.href.replace(/\/+$/, '');
  throw new UsageError(`${name} ${text} is no address: write it as http://localhost:3000/webhooks`);
}
