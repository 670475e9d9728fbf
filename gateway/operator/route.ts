import type { Context } from 'koa';
import type { z } from 'zod';
import type { GrpcCall } from '../../platform/grpc-client.ts';
import type { StreamOptions } from '../event-stream/event-stream.ts';
import type { HandledRoute } from '../http/route.ts';
import type { Exporter } from '../resource/csv.ts';
import { type Described, describe, type Target } from '../resource/route.ts';
import { createsOperation, type OperationName } from '../resource/write-operation.ts';
import type { Operator } from './authenticate.ts';
import type { Sessions } from './session/sessions.ts';
import type { VerifyToken } from './session/verify-token.ts';

/** What an operator's handler is called with, besides what its schemas read. */
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

/** A route in OPERATOR_ROUTES. */
export interface OperatorRoute extends HandledRoute {
  /** Unset: that of readJsonBytes(). */
  readonly maxBodyBytes?: number;
}

/** Describes a route that demands the operator token or a console session. */
export function operatorRoute<T extends Target, Q extends z.ZodObject, B extends z.ZodType>(
  tag: Tag,
  target: T,
  route: Described<AuthenticatedCall, T, Q, B>,
): OperatorRoute {
  return describe('operator', `Operators: ${tag}`, target, route);
}

/** The same for a route that creates an operation. */
export function operatorWrite<T extends Target, Q extends z.ZodObject, B extends z.ZodType>(
  tag: Tag,
  target: T,
  route: Described<AuthenticatedCall & { readonly name: OperationName }, T, Q, B>,
): OperatorRoute {
  return operatorRoute(tag, target, createsOperation('/operator/operations/{requestId}', route));
}

/** Describes a route that anybody may call. */
export function publicRoute<T extends Target, Q extends z.ZodObject, B extends z.ZodType>(
  tag: Tag,
  target: T,
  route: Described<OperatorCall, T, Q, B> & Pick<OperatorRoute, 'maxBodyBytes'>,
): OperatorRoute {
  return describe('none', `Operators: ${tag}`, target, route);
}

type Tag = 'session' | 'overview' | 'holds' | 'merchants' | 'deliveries' | 'relay';
