import { status } from '@grpc/grpc-js';
import type { Lie } from '../liar.ts';
import { type Answering, approval, type Fault, type Method, telling } from './fault.ts';

/**
 * What must be refused, and is answered APPROVED: the method, the code of the refusal, the check, and what the check
 * says.
 */
export const REFUSALS_THAT_ARE_NONE: readonly Fault[] = (
  [
    [
      'a capture of what an accepted one takes',
      'capture',
      'amount_exceeds_authorization',
      'accepted capture: crossed',
      /a capture of more than it leaves/,
    ],
    [
      'a refund of what an accepted one takes',
      'refund',
      'amount_exceeds_capture',
      'accepted refund: crossed',
      /a refund of more than it leaves/,
    ],
    [
      'a capture of what an accepted void takes',
      'capture',
      'amount_exceeds_authorization',
      'accepted void: crossed',
      /a capture of a unit/,
    ],
    [
      'a capture of what an accepted increment has not added yet',
      'capture',
      'amount_exceeds_authorization',
      'accepted increment: crossed',
      /a capture of what it has not added yet/,
    ],
    [
      'a refund of more than its capture',
      'refund',
      'amount_exceeds_capture',
      'refunds: of one capture, not of another',
      /a refund of more than its capture/,
    ],
    [
      'a refund of a capture that was never made',
      'refund',
      'capture_not_found',
      'refunds: of one capture, not of another',
      /capture that was never made/,
    ],
    [
      'a refund of what was taken back',
      'refund',
      'amount_exceeds_capture',
      'refunds: not of what was taken back',
      /a refund of what was taken back/,
    ],
    [
      'a capture after the end of the hold',
      'capture',
      'authorization_expired',
      'captures: not after the end of the hold',
      /after the end of the hold/,
    ],
    [
      'a void of a hold that was never placed',
      'void',
      'authorization_not_found',
      'voids: of a hold that was never placed',
      /never placed/,
    ],
    [
      'a void of a hold that was declined',
      'void',
      'authorization_not_approved',
      'voids: of a hold that was declined',
      /was declined/,
    ],
    [
      'an increment of a hold that is captured',
      'incrementAuthorization',
      'authorization_closed',
      'increments: add to what can be captured',
      /a hold that is captured/,
    ],
    [
      'a partial release of all that is left',
      'decreaseAuthorization',
      'amount_exceeds_authorization',
      'partial releases: of less than what is left',
      /all that is left/,
    ],
    [
      'a capture of what was given back in part',
      'capture',
      'amount_exceeds_authorization',
      'partial releases: what they gave back',
      /what was given back/,
    ],
    [
      'an extension of a hold that was voided',
      'extendAuthorization',
      'authorization_closed',
      'extensions: never an earlier end',
      /a hold that was voided/,
    ],
  ] as const
).map(([name, method, code, check, why]) => ({
  name: `approved: ${name}`,
  checks: [check],
  why: new RegExp(`${why.source}.*: was answered APPROVED`),
  lie: () => telling(method, ({ errorCode }) => (errorCode === code ? approval : {})),
}));

/** Codes that core depends on, told otherwise. */
export const CODES: readonly Fault[] = (
  [
    ['authorize', 'fenced', 'authorization: fenced, it never acts'],
    ['capture', 'identifier_reused', 'capture: another request under its identifier'],
    ['capture', 'amount_exceeds_authorization', 'captures: the whole, and not a unit more'],
    ['refund', 'amount_exceeds_capture', 'refunds: up to the capture'],
    ['refund', 'capture_not_found', 'refunds: of one capture, not of another'],
    ['void', 'authorization_not_found', 'voids: of a hold that was never placed'],
    ['void', 'authorization_not_approved', 'voids: of a hold that was declined'],
    ['void', 'authorization_mismatch', "void: of one's own only"],
    ['capture', 'authorization_expired', 'captures: not after the end of the hold'],
    ['authorize', 'token_invalid', 'authorization: an unknown token'],
  ] as const
).map(([method, code, check]) => ({
  name: `${method} says "refused" for ${code}`,
  checks: [check],
  why: /NOT_PERFORMED refused/,
  lie: () => telling(method, ({ errorCode }) => (errorCode === code ? { errorCode: 'refused' } : {})),
}));

/** Refusals by a status, which leaves core without an outcome. */
export const STATUSES: readonly Fault[] = (
  [
    ['capture', 'amount_exceeds_authorization', 'captures: the whole, and not a unit more', /more than was reserved/],
    ['void', 'authorization_mismatch', "void: of one's own only", /void of another merchantId/],
    ['refund', 'capture_not_found', 'refunds: of one capture, not of another', /capture that was never made/],
  ] as const
).map(([method, code, check, what]) => ({
  name: `${method} refuses by a status for ${code}`,
  checks: [check],
  why: new RegExp(`${what.source}: was answered with the status FAILED_PRECONDITION`),
  lie: () => refusingByStatus(method, (errorCode) => (errorCode === code ? status.FAILED_PRECONDITION : undefined)),
}));

/** A method that refuses by a status instead of an answer. */
export function refusingByStatus(method: Method, statusOf: (errorCode: string) => status | undefined): Lie {
  const answer: Answering = async (request, forward) => {
    const response = await forward(request);
    const code = statusOf(response.result?.errorCode ?? '');
    if (code !== undefined) throw Object.assign(new Error('refused'), { code });
    return response;
  };
  return { [method]: answer };
}
