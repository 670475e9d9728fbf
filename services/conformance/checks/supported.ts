import { type Kind, tokenOf, type Way } from '../kinds.ts';
import type { Kit } from '../kit.ts';

/** Skips a check unless the processor can do such operations, and the profile names a token with which they go a certain way. */
export function supported(kind: Kind, way?: Way) {
  return ({ description, profile }: Kit): string | undefined => {
    if (!kind.isSupported(description)) return 'the processor cannot do it';
    if (way && tokenOf(profile, kind, way) === undefined)
      return `the profile names no token tokens.${kind.name}.${way}`;
    return undefined;
  };
}
