import { isSigningSecret } from '../../../../client/webhooks/signature.ts';
import { drawId } from '../../../../platform/draw-id.ts';
import {
  RelayKeySchema,
  RelaySenderSchema,
  type RelaySenderSettings,
  RelaySenderSettingsSchema,
} from '../../../../proto/gen/holdfast/v1/relay_pb.js';
import { HoldfastError } from '../../domain/refusal.ts';
import { findMerchant } from '../../storage/merchant/merchant-row.ts';
import type { RelayKeyRow, RelayScheme, SenderWithKeys } from '../../storage/relay/relay-rows.ts';
import {
  addSender,
  listSenders,
  readSender,
  removeSender,
  type SenderSettings,
  updateSender,
} from '../../storage/relay/relay-senders.ts';
import type { Core, Method } from '../core.ts';
import { isUuid } from '../ids.ts';
import { canonicalCaptureKey } from '../merchant/capture-key.ts';
import { present } from '../present.ts';
import { noSuch } from '../refuse.ts';
import { FieldCheck } from '../server/check-fields.ts';
import { spendOwnQuota } from '../spend-quota.ts';

/** Lists a merchant's senders, oldest first. Throws OPERATION_NOT_FOUND. */
export const listRelaySenders: Method<'listRelaySenders'> = async ({ database }, { merchantId }) => {
  if (!(await findMerchant(database, merchantId))) throw noSuch('merchant');
  return { senders: (await listSenders(database, merchantId)).map(presentSender) };
};

/** Looks up a sender of a merchant. Throws OPERATION_NOT_FOUND. */
export const getRelaySender: Method<'getRelaySender'> = async (core, { merchantId, senderId: id }) => ({
  sender: presentSender(await demandSender(core, { merchantId, id })),
});

/** Adds a sender. Throws INVALID_REQUEST with every invalid field. */
export const createRelaySender: Method<'createRelaySender'> = async (core, request, context) => {
  const { merchantId, keys } = request;
  await spendOwnQuota(core, context, merchantId, 'webhook.change');
  const scheme = request.scheme as RelayScheme;
  const fields = new FieldCheck();
  const settings = settingsOf(fields, scheme, request.settings);
  const texts = keys.map((key) => keyOf(fields, scheme, key));
  fields.refuse();
  const createdAt = core.clock();
  const id = drawId();
  const rows = texts.map((text) => newKey(core, { merchantId, senderId: id, createdAt }, scheme, text));
  const added = await addSender(core.database, { ...settings, id, merchantId, scheme, createdAt }, rows);
  if (added === 'NOT_FOUND') throw noSuch('merchant');
  if (added === 'TOO_MANY') throw new HoldfastError('INVALID_REQUEST', 'the merchant has 10 relay senders: remove one');
  return { sender: presentSender(added) };
};

/** Replaces a sender's settings, and its keys when some are given. Throws INVALID_REQUEST, OPERATION_NOT_FOUND. */
export const updateRelaySender: Method<'updateRelaySender'> = async (core, request, context) => {
  const { merchantId, senderId: id } = request;
  await spendOwnQuota(core, context, merchantId, 'webhook.change');
  const { sender } = await demandSender(core, { merchantId, id });
  const { scheme } = sender;
  const fields = new FieldCheck();
  const settings = settingsOf(fields, scheme, request.settings);
  const texts = request.keys.map((key) => keyOf(fields, scheme, key));
  fields.refuse();
  const createdAt = core.clock();
  const keysOf = (before: readonly RelayKeyRow[]) => {
    if (texts.length === 0) return before;
    const known = before.map((key) => ({ key, text: textOf(core, key) }));
    const terms = { merchantId, senderId: id, createdAt };
    return texts.map((text) => known.find((one) => one.text === text)?.key ?? newKey(core, terms, scheme, text));
  };
  const updated = await updateSender(core.database, { id, merchantId }, settings, keysOf, createdAt);
  if (updated === 'NOT_FOUND') throw noSuch('relay sender');
  return { sender: presentSender(updated) };
};

/** Removes a sender: gateways refuse its notifications within seconds. Throws OPERATION_NOT_FOUND. */
export const deleteRelaySender: Method<'deleteRelaySender'> = async (core, request, context) => {
  const { merchantId, senderId: id } = request;
  await spendOwnQuota(core, context, merchantId, 'webhook.change');
  const removed = isUuid(id) && (await removeSender(core.database, { id, merchantId }, core.clock()));
  if (!removed || removed === 'NOT_FOUND') throw noSuch('relay sender');
  return {};
};

async function demandSender({ database }: Core, key: { merchantId: string; id: string }): Promise<SenderWithKeys> {
  const found = isUuid(key.id) ? await readSender(database, key) : undefined;
  if (!found) throw noSuch('relay sender');
  return found;
}

/** The columns of settings that fit the scheme; adds a violation for each that does not. */
function settingsOf(
  fields: FieldCheck,
  scheme: RelayScheme,
  settings: RelaySenderSettings | undefined,
): SenderSettings {
  const { name = '', header = '', encoding = '', prefix = '', timestamped = false } = settings ?? {};
  const { idHeader = '', idPointer = '', typeHeader = '', internalTypes = [] } = settings ?? {};
  fields.text('settings.name', name);
  if (scheme === 'hmac-sha256-body' || scheme === 'ed25519-body') {
    if (header === '') fields.add('settings.header', `is needed by ${scheme}`);
    if (encoding === '') fields.add('settings.encoding', `is needed by ${scheme}`);
  } else {
    const unfit = { header, encoding, prefix };
    for (const [field, value] of Object.entries(unfit))
      if (value !== '') fields.add(`settings.${field}`, `is not a setting of ${scheme}`);
  }
  if (timestamped && scheme !== 'hmac-sha256-body')
    fields.add('settings.timestamped', 'is a setting of hmac-sha256-body only');
  if (timestamped && prefix !== '') fields.add('settings.prefix', 'must be empty with timestamped');
  if (idHeader !== '' && idPointer !== '') fields.add('settings.id_pointer', 'must be empty with id_header');
  const signsAnIdentifier = scheme === 'standard-webhooks' || scheme === 'service-signature';
  for (const [field, value] of [
    ['id_header', idHeader],
    ['id_pointer', idPointer],
  ] as const) {
    if (signsAnIdentifier && value !== '')
      fields.add(`settings.${field}`, `must be empty: ${scheme} has an identifier of its own`);
  }
  if (/~(?![01])/.test(idPointer)) fields.add('settings.id_pointer', 'must be a JSON pointer: ~ is written ~0');
  for (const [field, value] of [
    ['header', header],
    ['id_header', idHeader],
    ['type_header', typeHeader],
  ] as const) {
    if (OWN.test(value)) fields.add(`settings.${field}`, 'is a header of HTTP or of Holdfast');
  }
  return {
    name,
    header: header.toLowerCase(),
    encoding,
    prefix,
    timestamped,
    idHeader: idHeader.toLowerCase(),
    idPointer,
    typeHeader: typeHeader.toLowerCase(),
    toleranceSeconds: settings?.toleranceSeconds || DEFAULT_TOLERANCE_SECONDS,
    internalTypes,
  };
}

/** Standard Webhooks' five minutes. */
const DEFAULT_TOLERANCE_SECONDS = 300;

/** What HTTP, proxies and we ourselves write. A sender's own header must not be mistaken for one of these. */
const OWN = new RegExp(
  '^(accept.*|authorization|connection|content-.*|cookie|date|expect|forwarded|host|keep-alive|origin|proxy-.*|' +
    'te|trace(parent|state)|trailer|transfer-encoding|upgrade|user-agent|via|webhook-.*|' +
    'x-(forwarded|relay|real)-.*|x-service-signature|x-request-id)$',
  'i',
);

/** A key in its canonical form; adds a violation for what is no key of the scheme. */
function keyOf(fields: FieldCheck, scheme: RelayScheme, key: string): string {
  if (scheme === 'ed25519-body') {
    const canonical = canonicalCaptureKey(key);
    if (key.includes('PRIVATE KEY')) fields.add('keys', 'is a private key: make another one, and send its public key');
    else if (!canonical) fields.add('keys', 'must be an Ed25519 public key, SubjectPublicKeyInfo in PEM');
    return canonical ?? key;
  }
  if (key.length > MOST_OF_SECRET || !/^[ -~]+$/.test(key))
    fields.add('keys', `must have at most ${MOST_OF_SECRET} characters, all of them visible ASCII or spaces`);
  else if (scheme !== 'hmac-sha256-body' && !isSigningSecret(key))
    fields.add('keys', 'must be whsec_ and at least 24 bytes of Base64');
  return key;
}

const MOST_OF_SECRET = 256;

type KeyTerms = Pick<RelayKeyRow, 'merchantId' | 'senderId' | 'createdAt'>;

function newKey({ cipher }: Core, terms: KeyTerms, scheme: RelayScheme, text: string): RelayKeyRow {
  const id = drawId();
  if (scheme === 'ed25519-body') return { ...terms, id, ciphertext: null, publicKey: text };
  return { ...terms, id, ciphertext: cipher.seal(text, `relay-key:${id}`), publicKey: null };
}

function textOf({ cipher }: Core, { id, ciphertext, publicKey }: RelayKeyRow): string | undefined {
  return ciphertext ? cipher.open(ciphertext, `relay-key:${id}`) : (publicKey ?? undefined);
}

/** A sender without its secrets. */
function presentSender({ sender, keys }: SenderWithKeys) {
  return present(RelaySenderSchema, sender, {
    senderId: sender.id,
    settings: present(RelaySenderSettingsSchema, sender),
    keys: keys.map((key) => present(RelayKeySchema, key, { keyId: key.id })),
  });
}
