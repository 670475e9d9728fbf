import { createHash } from 'node:crypto';

/** A signing secret of the form that Holdfast issues, always the same for a name. */
export function signingSecret(name: string): string {
  return `whsec_${createHash('sha256').update(name).digest('base64')}`;
}
