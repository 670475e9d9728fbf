import { Problem } from '../../problem.ts';

/** SIGNATURE_REQUIRED, with a reason that is a sentence of ours: it never repeats what was sent, nor what would be right. */
export function refuseSignature(detail: string): Problem {
  return new Problem('SIGNATURE_REQUIRED', { detail });
}
