import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import {
  decodeSignature,
  type SignedFields,
  signNotification,
  verifyNotification,
  verifyStandardWebhook,
} from '../../client/webhooks/signature.ts';
import { VerificationFailureReason } from '../../proto/gen/holdfast/v1/notification_pb.js';
import type { Credentials } from '../core/credentials.ts';

/** Most live secrets of a merchant, and HMACs of every verification of one signature. */
const SECRETS = 2;

/** Random secrets in the place of missing ones. Nothing verifies against them. */
const DUMMIES = Array.from({ length: SECRETS }, () => `whsec_${randomBytes(32).toString('base64')}`);

/** A notification to verify. */
export interface Claimed {
  readonly fields: SignedFields;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Why a notification is not accepted; or its X-Service-Signature, made anew when only Standard Webhooks proved it. */
export type Verdict =
  | { readonly reason: VerificationFailureReason }
  | { readonly reason: undefined; readonly signature: string };

/**
 * Like verify(), but fetches the newest secrets before it reports a failure: a secret is valid as soon as its 201 was
 * answered. Every failure waits for the same refresh, so an unknown merchant takes as long as a wrong signature. Throws
 * UNAVAILABLE when core does not answer.
 */
export async function verifyWithNewest(
  credentials: Pick<Credentials, 'secretsOf' | 'relayVerificationOf' | 'refresh'>,
  claimed: Claimed,
): Promise<Verdict> {
  const { merchantId } = claimed.fields;
  const verifyNow = () =>
    verify(credentials.secretsOf(merchantId), credentials.relayVerificationOf(merchantId), claimed, Date.now() / 1_000);
  const verdict = verifyNow();
  if (verdict.reason === undefined) return verdict;
  await credentials.refresh();
  return verifyNow();
}

/**
 * Judges a notification under the merchant's own secrets by what its contract demands (`relayVerification`;
 * service-signature without one). It always computes and compares two HMACs for each signature that it looks at, and a
 * failure has looked at both, so that time reveals neither which merchants exist nor what they demand. Several
 * X-Service-Signature headers come as one, joined by commas, which is malformed.
 */
export function verify(
  secrets: readonly string[] | undefined,
  demanded: string | undefined,
  claimed: Claimed,
  nowSeconds: number,
): Verdict {
  const live = secrets ?? [];
  assert(live.length <= SECRETS);
  const two = [...live, ...DUMMIES].slice(0, SECRETS);
  const { fields, headers, body } = claimed;
  const header = headers['x-service-signature']?.toString();
  const isSigned = verifyNotification(two, fields, header);
  if (isSigned && demanded !== 'standard-webhooks') return { reason: undefined, signature: header as string };
  const standard = {
    id: headers['webhook-id'],
    timestamp: headers['webhook-timestamp'],
    signature: headers['webhook-signature'],
  };
  const isStandard = verifyStandardWebhook(two, standard, body, nowSeconds);
  if (isStandard && (demanded === 'standard-webhooks' || demanded === 'either')) {
    const signature = isSigned ? (header as string) : signNotification(two[0] as string, fields);
    return { reason: undefined, signature };
  }
  return {
    reason: reasonOf(live, demanded === 'standard-webhooks' ? standard.signature?.toString() : header, demanded),
  };
}

function reasonOf(live: readonly string[], header: string | undefined, demanded: string | undefined) {
  if (header === undefined) return VerificationFailureReason.MISSING_SIGNATURE;
  const isWellFormed = demanded === 'standard-webhooks' || decodeSignature(header) !== undefined;
  if (!isWellFormed) return VerificationFailureReason.MALFORMED_SIGNATURE;
  if (live.length === 0) return VerificationFailureReason.UNKNOWN_MERCHANT;
  return VerificationFailureReason.WRONG_SIGNATURE;
}
