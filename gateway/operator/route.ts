import type { Context } from 'koa';
import type { GrpcCall } from '../../platform/grpc-client.ts';
import type { StreamOptions } from '../event-stream/event-stream.ts';
import type { Exporter } from '../resource/csv.ts';
import { describing } from '../resource/route.ts';
import { describingWrites } from '../resource/write-operation.ts';
import type { Operator } from './authenticate.ts';
import type { Sessions } from './session/sessions.ts';
import type { VerifyToken } from './session/verify-token.ts';

/** The arguments of an operator's handler, besides the values that its schemas read. */
export interface OperatorCall extends StreamOptions {
  readonly ctx: Context;
  readonly sessions: Sessions;
  readonly verify: VerifyToken;
}

/** The same where the caller is authenticated. */
export interface AuthenticatedCall extends OperatorCall {
  readonly operator: Operator;
  readonly exporter: Exporter;
  /** Options of a call to core in the operator's name, with the operator's own token. */
  readonly asOperator: GrpcCall & { readonly metadata: Readonly<Record<string, string>> };
}

/** Describes a route that demands the operator token or a console session. */
export const operatorRoute = describing<AuthenticatedCall>('operator', 'Operators: ');

/** The same for a route that creates an operation. */
export const operatorWrite = describingWrites(operatorRoute, '/operator/operations/{requestId}');

/** Describes a route that anybody may call. */
export const publicRoute = describing<OperatorCall>('none', 'Operators: ');
