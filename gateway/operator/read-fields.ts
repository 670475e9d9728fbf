import type { Context } from 'koa';
import type { z } from 'zod';
import { MERCHANT_ID } from '../merchant-id.ts';
import { Problem, type ProblemCode } from '../problem.ts';
import { parseFields, readJsonBytes } from '../rest/read-body.ts';

/** Reads the body. Without a body it is `{}`, so that a command that says nothing need not say it in JSON. */
export async function readFields<S extends z.ZodType>(
  ctx: Context,
  schema: S,
  maxBytes?: number,
): Promise<z.output<S>> {
  const { headers } = ctx.req;
  const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
  return parseFields(isEmpty ? Buffer.from('{}') : await readJsonBytes(ctx, maxBytes), schema);
}

/** A name from the path. A malformed one is answered like one that does not exist, without asking core. */
export function readName(ctx: Context, name: string, code: ProblemCode = 'OPERATION_NOT_FOUND'): string {
  const value: string = ctx.params[name];
  if (!FORMS[name]?.test(value)) throw new Problem(code);
  return value;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const FORMS: Readonly<Record<string, RegExp>> = {
  merchantId: MERCHANT_ID,
  endpointKind: /^(webhook|internal)$/,
  requestId: UUID,
  deliveryId: UUID,
  quarantineId: UUID,
  apiKeyId: UUID,
  signingSecretId: UUID,
};
