import type { LogPosition } from '../../storage/operation/operation-row.ts';

/** A token names the result at its position: a restored database has another one there, and rejects it. */
export function tokenOf({ sequence, requestId }: LogPosition): string {
  return Buffer.from(`o2:${sequence}:${markOf(requestId)}`).toString('base64url');
}

/** The random part of a requestId, which a token carries. */
export function markOf(requestId: string): string {
  return requestId.slice(-12);
}

/** The position of a token; undefined when it is malformed. */
export function readToken(token: string): { readonly sequence: bigint; readonly mark: string } | undefined {
  const [, digits, mark] =
    /^o2:(\d{1,18}):([0-9a-f]{12}|)$/.exec(Buffer.from(token, 'base64url').toString('latin1')) ?? [];
  return digits === undefined || mark === undefined ? undefined : { sequence: BigInt(digits), mark };
}
