import { isCorrectable } from '../../domain/correction-rules.ts';
import { OPERATION_KINDS, type SubmissionKind } from '../../domain/kinds.ts';
import type { Cipher } from '../../storage/cipher.ts';
import type { Query } from '../../storage/database.ts';
import {
  findResult,
  listResults,
  type OperationRow,
  positionOf,
  type ResultFilter,
} from '../../storage/operation/operation-row.ts';
import { findSent } from '../../storage/submission/find-sent.ts';
import { findSubmission } from '../../storage/submission/read-submissions.ts';
import type { SubmissionRow } from '../../storage/submission/submission-row.ts';
import type { Core, Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { filtersOf, readPage } from '../pages.ts';
import { presentOperation, presentSent } from '../present.ts';
import { refusalOf } from '../refuse.ts';
import { isInScope, scopeOf } from '../server/caller.ts';
import { readToken, tokenOf } from './stream-token.ts';

/** Looks up an operation: its result, or its request while it has none. */
export const getOperation: Method<'getOperation'> = async (core, request, context) => {
  const scope = scopeOf(context, request.merchantId);
  const operation = isUuid(request.requestId) ? await findOperation(core, request.requestId, scope) : undefined;
  if (!operation) throw refusalOf('OPERATION_NOT_FOUND');
  return { operation };
};

/** Returns an operation's result, or its request while it has none. `scope` is a merchant; undefined = any. */
export async function findOperation({ database: { query } }: Core, requestId: string, scope: string | undefined) {
  const result = await findResult(query, requestId);
  if (result && !isInScope(result, scope)) return undefined;
  if (result) return isCorrectable(result.kind) ? presentNow(query, result) : presentOperation(result);
  const sent = await findSent(query, requestId);
  if (!sent || !isInScope(sent, scope)) return undefined;
  return presentSent(sent);
}

/** The result of an operation that may have been corrected: how it ended in truth. */
async function presentNow(query: Query, result: OperationRow) {
  const row = await findSubmission(query, result.requestId);
  const isCorrected = row?.firstState != null && row.state !== result.status;
  return presentOperation(isCorrected ? asCorrected(result, row.state === 'OK') : result);
}

function asCorrected(result: OperationRow, ok: boolean): OperationRow {
  const statusInfo = ok ? OPERATION_KINDS[result.kind].successWord : 'failed';
  return { ...result, status: ok ? 'OK' : 'KO', statusInfo, processorCode: null, processorMessage: null };
}

/** The submission of a kind that a request names, in its scope. Throws CAPTURE_NOT_FOUND, OPERATION_NOT_FOUND. */
export async function namedSubmission(
  core: Core,
  kind: SubmissionKind,
  requestId: string,
  scope: string | undefined,
): Promise<SubmissionRow> {
  const row = isUuid(requestId) ? await findSubmission(core.database.query, requestId) : undefined;
  if (row?.kind === kind && isInScope(row, scope)) return row;
  throw refusalOf(kind === 'CAPTURE' ? 'CAPTURE_NOT_FOUND' : 'OPERATION_NOT_FOUND');
}

/** Lists final results, newest first; their sequence is the page's cursor. */
export const listOperations: Method<'listOperations'> = async (core, request, context) => {
  const scope = scopeOf(context, request.merchantId);
  const { state, merchantId: _, ...same } = filtersOf<Asked>(context, request);
  if (same.holdRequestId !== undefined && !isUuid(same.holdRequestId)) return { operations: [], nextPageToken: '' };
  const filters = { ...same, ...(state && { status: state }) };
  const ofScope = { ...filters, ...(scope !== undefined && { merchantId: scope }) };
  const order = bySequence(scope, core.cipher);
  return readPage('operations', request, filters, order, {
    read: async (_, after, limit) => {
      const { rows, scannedTo } = await listResults(core.reads, ofScope, order.sequenceOf(after), limit);
      return { rows, scannedTo: scannedTo && order.keyOf({ sequence: BigInt(scannedTo), requestId: '' }) };
    },
    present: presentOperation,
  });
};

/** The request says `state`, as operations without a result do. */
type Asked = Omit<ResultFilter, 'status'> & { readonly state?: OperationRow['status'] };

/** The sequence is that of all merchants' log, so a key is the token of a stream at its place; of 1.0 it is the number. */
function bySequence(scope: string | undefined, cipher: Cipher) {
  const sequenceOf = (key: string | undefined) => {
    if (key === undefined) return undefined;
    return PLAIN_KEY.test(key) ? BigInt(key) : readToken(key, scope, cipher)?.sequence;
  };
  return {
    isKey: (key: string) => sequenceOf(key) !== undefined,
    keyOf: (row: Pick<OperationRow, 'sequence' | 'requestId'>) => tokenOf(positionOf(row), scope, cipher),
    sequenceOf,
  };
}

const PLAIN_KEY = /^\d{1,18}$/;
