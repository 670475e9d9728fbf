import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { decodeSignature, type SignedFields, verifyNotification } from '../../client/webhooks/signature.ts';
import { VerificationFailureReason } from '../../proto/gen/holdfast/v1/notification_pb.js';
import type { Credentials } from '../core/credentials.ts';

/** Most live secrets of a merchant, and HMACs of every verification. */
const SECRETS = 2;

/** Random secrets in the place of missing ones. Nothing verifies against them. */
const DUMMIES = Array.from({ length: SECRETS }, () => `whsec_${randomBytes(32).toString('base64')}`);

/**
 * Like verify(), but fetches the newest secrets before it reports a failure: a secret is valid as soon as its 201 was
 * answered. Every failure waits for the same refresh, so an unknown merchant takes as long as a wrong signature. Throws
 * UNAVAILABLE when core does not answer.
 */
export async function verifyWithNewest(
  credentials: Pick<Credentials, 'secretsOf' | 'refresh'>,
  fields: SignedFields,
  header: string | undefined,
): Promise<VerificationFailureReason | undefined> {
  const verifyNow = () => verify(credentials.secretsOf(fields.merchantId), fields, header);
  if (verifyNow() === undefined) return undefined;
  await credentials.refresh();
  return verifyNow();
}

/**
 * Returns why a signature is not accepted, or undefined when it is. It always computes and compares two HMACs, so that
 * its time does not reveal which merchants exist. Several X-Service-Signature headers come as one, joined by commas,
 * which is malformed.
 */
export function verify(
  secrets: readonly string[] | undefined,
  fields: SignedFields,
  header: string | undefined,
): VerificationFailureReason | undefined {
  const live = secrets ?? [];
  assert(live.length <= SECRETS);
  const verified = verifyNotification([...live, ...DUMMIES].slice(0, SECRETS), fields, header);
  if (verified) return undefined;
  if (header === undefined) return VerificationFailureReason.MISSING_SIGNATURE;
  if (decodeSignature(header) === undefined) return VerificationFailureReason.MALFORMED_SIGNATURE;
  if (live.length === 0) return VerificationFailureReason.UNKNOWN_MERCHANT;
  return VerificationFailureReason.WRONG_SIGNATURE;
}
