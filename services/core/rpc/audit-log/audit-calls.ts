import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { Code, ConnectError, type Interceptor, type UnaryRequest, type UnaryResponse } from '@connectrpc/connect';
import { hasCardNumber } from '../../../../platform/card-number.ts';
import { errorFields } from '../../../../platform/log.ts';
import { MerchantService } from '../../../../proto/gen/holdfast/v1/merchant_pb.js';
import { NotificationService } from '../../../../proto/gen/holdfast/v1/notification_pb.js';
import { OperationState } from '../../../../proto/gen/holdfast/v1/payment_pb.js';
import { RelayService } from '../../../../proto/gen/holdfast/v1/relay_pb.js';
import { WebhookEndpointService } from '../../../../proto/gen/holdfast/v1/webhook_endpoint_pb.js';
import { HoldfastError } from '../../domain/refusal.ts';
import { inNameOf, isOperatorName } from '../../storage/audit-log/actor.ts';
import { auditEnds, auditStarts } from '../../storage/audit-log/audit-log.ts';
import type { Core } from '../core.ts';
import { invalidField } from '../refuse.ts';
import { callerKey, OPERATOR_HEADER } from '../server/caller.ts';
import { FieldCheck } from '../server/check-fields.ts';

/** Audits the changes of operators: an entry before the method runs, unless it writes its own, and its result. */
export function auditsOperators(core: Core): Interceptor {
  return (next) => (request) => {
    if (request.contextValues.get(callerKey)?.role !== 'operator') return next(request);
    const actor = actorOf(request.header.get(OPERATOR_HEADER));
    if (request.stream || !changesSomething(request.method)) return next(request);
    return inNameOf(actor, async () => {
      if (auditsItself(request.method)) return next(request);
      return audited(core, request, async () => (await next(request)) as UnaryResponse);
    });
  };
}

/** Returns whether a method changes anything; reads are not audited. */
export function changesSomething(method: DescMethod): boolean {
  return !/^(Get|List|Watch|Check)[A-Z]/.test(method.name);
}

/** Returns whether a method writes its audit entry in the transaction of its change: it calls no processor. */
function auditsItself({ parent, name }: DescMethod): boolean {
  return AUDITING.includes(parent) || name === 'EndSession';
}

const AUDITING: readonly DescService[] = [MerchantService, NotificationService, RelayService, WebhookEndpointService];

/** Fields of a request that the entry contains; others may be a secret, a card's token or a preauthorizationId. */
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

/** Fields that may look like card numbers if the merchant's contract allows it: entries leave them out. */
const BY_CONTRACT: ReadonlySet<string> = new Set(['terminalId', 'userId', 'merchantReference']);

type Fields = Readonly<Record<string, unknown>>;

async function audited(core: Core, request: UnaryRequest, run: () => Promise<UnaryResponse>): Promise<UnaryResponse> {
  const { query } = core.database;
  const fields = request.message as unknown as Fields;
  const target = String(fields.requestId || fields.captureRequestId || fields.merchantId || 'by preauthorizationId');
  const detail = detailOf(fields);
  refuseUnwritable({ ...detail, requestId: target });
  const action = { at: core.clock(), action: actionOf(request.method), target, detail };
  const [id = ''] = await auditStarts(query, [action]);
  const finish = async (end: object) => {
    try {
      await auditEnds(query, [{ id, end }]);
    } catch (error) {
      // The change is committed and its answer must be sent: the entry stays STARTED, and the log has the reason.
      core.log.error('audit_end_failed', { ...errorFields(error) });
    }
  };
  try {
    const response = await run();
    await finish(resultOf(response.message as unknown as Fields));
    return response;
  } catch (error) {
    const requestId = error instanceof HoldfastError ? error.details.requestId : undefined;
    const result = error instanceof HoldfastError ? error.code : Code[ConnectError.from(error).code];
    await finish({ result, requestId });
    throw error;
  }
}

function detailOf(fields: Fields): Record<string, unknown> {
  const kept = KEPT.flatMap((name) => {
    const value =
      name === 'outcome' && fields.outcome ? OperationState[fields.outcome as OperationState] : fields[name];
    if (!value || (BY_CONTRACT.has(name) && hasCardNumber(String(value)))) return [];
    return [[name, typeof value === 'bigint' ? Number(value) : value] as const];
  });
  const error = fields.processorError as { code: string; message: string } | undefined;
  return { ...Object.fromEntries(kept), ...(error && { processorCode: error.code, processorMessage: error.message }) };
}

/** Throws INVALID_REQUEST for text that an entry must not contain. */
function refuseUnwritable(detail: Fields): void {
  const check = new FieldCheck();
  for (const [name, value] of Object.entries(detail)) {
    const field = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (typeof value === 'string') check.text(field, value);
  }
  check.refuse();
}

/** The result of a call and the operation that it created, from the response or the record in it that has a state. */
function resultOf(message: Fields): object {
  const { operation: _, ...records } = message;
  const made = Object.values(records).find(hasState) ?? message;
  const hold = message.preauthorization as Fields | undefined;
  const state = made.state as OperationState | undefined;
  const requestId = made.requestId || hold?.requestId;
  return { result: state ? OperationState[state] : 'OK', ...(requestId ? { requestId } : {}) };
}

function hasState(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && 'state' in value;
}

/** `CapturePreauthorization` → `preauthorization.capture`. */
function actionOf({ name }: DescMethod): string {
  const [, verb = '', noun = ''] = /^([A-Z][a-z]+)(.*)$/.exec(name) ?? [];
  return `${kebab(noun)}.${kebab(verb)}`;
}

function kebab(name: string): string {
  return name.replace(/(?!^)([A-Z])/g, '-$1').toLowerCase();
}

/** Throws INVALID_REQUEST when the operator name is malformed. */
function actorOf(name: string | null): string {
  if (name === null || name === '') return 'operator';
  if (isOperatorName(name)) return `operator/${name}`;
  throw invalidField(OPERATOR_HEADER, 'must be a letter, then at most 63 letters, digits or " ._@+-"');
}
