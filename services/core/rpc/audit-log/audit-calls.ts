import type { DescMethod } from '@bufbuild/protobuf';
import { Code, ConnectError, type Interceptor, type UnaryRequest, type UnaryResponse } from '@connectrpc/connect';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { errorFields } from '../../../../proto/log.ts';
import { HoldfastError } from '../../domain/refusal.ts';
import { inNameOf } from '../../storage/actor.ts';
import { auditEnd, auditStart } from '../../storage/audit-log.ts';
import { callerKey } from '../caller.ts';
import { FieldCheck } from '../check-fields.ts';
import type { Core } from '../core.ts';
import { invalidField } from '../refuse.ts';

/**
 * Audits what operators change. It stands here, before every handler, so that no method can be forgotten: a method that is not named
 * in AUDITS_ITSELF gets an entry before it runs, and its result when it has run.
 */
export function auditsOperators(core: Core): Interceptor {
  return (next) => (request) => {
    if (request.contextValues.get(callerKey) !== 'operator') return next(request);
    const actor = actorOf(request.header.get('x-operator'));
    if (request.stream || !changesSomething(request.method)) return next(request);
    return inNameOf(actor, async () => {
      if (AUDITS_ITSELF.has(request.method.name)) return next(request);
      return audited(core, request, async () => (await next(request)) as UnaryResponse);
    });
  };
}

/** Whether a method changes something; reading is not audited. */
export function changesSomething(method: DescMethod): boolean {
  return !/^(Get|List|Watch|Check)[A-Z]/.test(method.name);
}

/** Methods that write their entry in the very transaction of the change. */
const AUDITS_ITSELF: ReadonlySet<string> = new Set([
  'CreateMerchant',
  'UpdateMerchant',
  'CreateApiKey',
  'RevokeApiKey',
  'AddSigningSecret',
  'RetireSigningSecret',
  'ReplayDelivery',
  'ReplayDeliveries',
  'PauseEndpoint',
  'ResumeEndpoint',
  'ReleaseQuarantinedNotification',
  'DiscardQuarantinedNotification',
  'ReplayStoredNotification',
  'EndSession',
]);

/** What of a request is kept; the rest may be a secret, a card's token or a hold's handle. */
const KEPT = [
  'merchantId',
  'amount',
  'amountToCapture',
  'currency',
  'finalCapture',
  'terminalId',
  'userId',
  'merchantReference',
  'outcome',
  'reason',
  'processorReference',
  'bankReference',
  'unfreezeHold',
  'unfenced',
] as const;

type Fields = Readonly<Record<string, unknown>>;

async function audited(core: Core, request: UnaryRequest, run: () => Promise<UnaryResponse>): Promise<UnaryResponse> {
  const { query } = core.database;
  const fields = request.message as unknown as Fields;
  const target = String(fields.requestId || fields.merchantId || 'by preauthorizationId');
  const detail = detailOf(fields);
  refuseUnwritable({ ...detail, requestId: target });
  const id = await auditStart(query, { at: core.clock(), action: actionOf(request.method), target, detail });
  const end = async (result: object) => {
    try {
      await auditEnd(query, id, { ...result });
    } catch (error) {
      // What was done stays done, and its answer must go out: the entry says STARTED, and the log says why.
      core.log.error('audit_end_failed', { ...errorFields(error) });
    }
  };
  try {
    const response = await run();
    await end(resultOf(response.message as unknown as Fields));
    return response;
  } catch (error) {
    const requestId = error instanceof HoldfastError ? error.details.requestId : undefined;
    await end({ result: error instanceof HoldfastError ? error.code : Code[ConnectError.from(error).code], requestId });
    throw error;
  }
}

function detailOf(fields: Fields): Record<string, unknown> {
  const kept = KEPT.flatMap((name) => {
    const value =
      name === 'outcome' && fields.outcome ? OperationState[fields.outcome as OperationState] : fields[name];
    return value ? [[name, typeof value === 'bigint' ? Number(value) : value] as const] : [];
  });
  const error = fields.processorError as { code: string; message: string } | undefined;
  return {
    ...Object.fromEntries(kept),
    ...(error && { processorCode: error.code, processorMessage: error.message }),
  };
}

/** Errors: INVALID_REQUEST for what must not, or cannot, be written down. */
function refuseUnwritable(detail: Fields): void {
  const check = new FieldCheck();
  for (const [name, value] of Object.entries(detail)) {
    if (typeof value === 'string')
      check.text(
        name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        value,
      );
  }
  check.refuse();
}

/** How a call ended, and which operation it made. */
function resultOf(message: Fields): object {
  const made = (message.capture ?? message.oct ?? message) as Fields;
  const hold = message.preauthorization as Fields | undefined;
  const state = (made.state ?? message.state) as OperationState | undefined;
  const requestId = made.requestId || hold?.requestId;
  return { result: state ? OperationState[state] : 'OK', ...(requestId ? { requestId } : {}) };
}

/** `CapturePreauthorization` → `preauthorization.capture`. */
function actionOf({ name }: DescMethod): string {
  const [, verb = '', noun = ''] = /^([A-Z][a-z]+)(.*)$/.exec(name) ?? [];
  return `${kebab(noun)}.${kebab(verb)}`;
}

function kebab(name: string): string {
  return name.replace(/(?!^)([A-Z])/g, '-$1').toLowerCase();
}

/** Errors: INVALID_REQUEST when the name given is none. */
function actorOf(name: string | null): string {
  if (name === null || name === '') return 'operator';
  if (/^[A-Za-z][A-Za-z0-9 ._@+-]{0,63}$/.test(name)) return `operator/${name}`;
  throw invalidField('x-operator', 'must be a letter, then at most 63 letters, digits or " ._@+-"');
}
