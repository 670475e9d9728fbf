import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { VerificationFailureReason } from '../../proto/gen/holdfast/v1/notification_pb.js';
import { decodeSignature, type SignedFields, verifyNotification } from '../../proto/signature.ts';
import type { Credentials } from '../credentials.ts';

/** A merchant has at most so many live secrets, and every verification costs so many HMACs. */
const SECRETS = 2;

/** Stand in for secrets that are not there. Nobody knows them, so nothing verifies against them. */
const DUMMIES = Array.from({ length: SECRETS }, () => `whsec_${randomBytes(32).toString('base64')}`);

/**
 * Like verify(), with secrets as new as core's before it calls anything a failure: a secret may be used as soon as its 201 was
 * answered. Every failure waits for the same refresh, so that an unknown merchant takes as long as a wrong signature.
 * Throws UNAVAILABLE when core cannot say what is new.
 */
export async function verifyWithNewest(
  credentials: Pick<Credentials, 'secretsOf' | 'refresh'>,
  fields: SignedFields,
  headers: readonly string[],
): Promise<VerificationFailureReason | undefined> {
  const verifyNow = () => verify(credentials.secretsOf(fields.merchantId), fields, headers);
  if (verifyNow() === undefined) return undefined;
  await credentials.refresh();
  return verifyNow();
}

/**
 * Tells why a notification does not prove to be its merchant's, or undefined when it does. Whatever the merchant and the
 * header, it computes and compares two HMACs, so that its time tells nothing about which merchants exist.
 * `headers` are all X-Service-Signature of the request; there must be one.
 */
export function verify(
  secrets: readonly string[] | undefined,
  fields: SignedFields,
  headers: readonly string[],
): VerificationFailureReason | undefined {
  const live = secrets ?? [];
  assert(live.length <= SECRETS);
  const header = headers.length === 1 ? headers[0] : undefined;
  const verified = verifyNotification([...live, ...DUMMIES].slice(0, SECRETS), fields, header);
  if (verified) return undefined;
  if (headers.length === 0) return VerificationFailureReason.MISSING_SIGNATURE;
  if (decodeSignature(header) === undefined) return VerificationFailureReason.MALFORMED_SIGNATURE;
  if (live.length === 0) return VerificationFailureReason.UNKNOWN_MERCHANT;
  return VerificationFailureReason.WRONG_SIGNATURE;
}
