import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { drawnAt } from '../../../../platform/draw-id.ts';
import { type ListMatchesRequest, MatchSchema } from '../../../../proto/gen/holdfast/v1/operator_pb.js';
import { findExactMatches, findMatches } from '../../reports/matches.ts';
import { hashOf } from '../../storage/cipher.ts';
import { findDelivery } from '../../storage/delivery/read-deliveries.ts';
import type { Core, Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { pageKey, pageToken } from '../pages.ts';
import { present } from '../present.ts';
import { isInScope } from '../server/caller.ts';

/** Finds operations and deliveries by an identifier, a reference, or the last digits of a card. */
export const listMatches: Method<'listMatches'> = async (core, request) => {
  const text = request.text.trim().replace(/^…/, '');
  if (text.length < MIN_CHARACTERS) return { matches: [] };
  const scope = request.merchantId || undefined;
  if (HANDLE.test(text)) return { matches: await byHandle(core, text, scope) };
  if (isUuid(text.toLowerCase())) return { matches: await byId(core, text.toLowerCase(), scope) };
  return search(core, request, text);
};

const MIN_CHARACTERS = 4;
const LIMIT = 100;

/** A handle, or a text that begins like one, is looked up by its hash; it is never part of a search. */
const HANDLE = /^pre_/i;

async function byHandle({ reads: { query } }: Core, handle: string, scope: string | undefined) {
  const rows = await findExactMatches(query, { requestId: null, idHash: hashOf(handle) });
  return rows.filter((row) => isInScope(row, scope)).map(presentMatch);
}

async function byId({ reads }: Core, id: string, scope: string | undefined) {
  const rows = await findExactMatches(reads.query, { requestId: id, idHash: null });
  if (rows.length > 0) return rows.filter((row) => isInScope(row, scope)).map(presentMatch);
  const delivery = await findDelivery(reads, id);
  if (!delivery || !isInScope(delivery, scope)) return [];
  const { id: deliveryId, requestId, createdAt } = delivery;
  return [presentMatch({ deliveryId, requestId, merchantId: delivery.merchantId, createdAt, matchedBy: 'ID' })];
}

async function search({ reads }: Core, request: ListMatchesRequest, text: string) {
  const { createdFrom, createdTo } = request;
  const filters = {
    text,
    idEnd: /^[0-9a-f-]{4,36}$/i.test(text) ? text.toLowerCase() : null,
    last4: /^\d{4}$/.test(text) ? text : null,
    merchantId: request.merchantId || null,
    createdFrom: createdFrom ? timestampDate(createdFrom) : null,
    createdTo: createdTo ? timestampDate(createdTo) : null,
  };
  // A token must not contain the searched text: it may be a private reference.
  const list = { ...filters, text: hashOf(text).toString('base64') };
  const before = pageKey(request.pageToken, list, isUuid) ?? null;
  const { rows, scannedTo } = await findMatches(reads.query, { ...filters, before, limit: LIMIT });
  const matches = rows.map(presentMatch);
  if (scannedTo === undefined) return { matches };
  return { matches, searchedFrom: timestampFromDate(drawnAt(scannedTo)), nextPageToken: pageToken(scannedTo, list) };
}

const presentMatch = (row: object) => present(MatchSchema, row);
