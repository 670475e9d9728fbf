import { Code } from '@connectrpc/connect';
import { PROBLEM_CODES, type ProblemCode, statusOf } from '../../gateway/http/problem.ts';
import { ErrorReason } from '../../proto/gen/holdfast/v1/error_pb.js';
import { HoldfastError, type RefusalCode } from '../../services/core/domain/refusal.ts';
import { translateError } from '../../services/core/rpc/server/translate-error.ts';
import type { Table } from './table.ts';

/** Every refusal by its HTTP status, with its status in gRPC. */
export function refusalsTable(): Table {
  const codes = new Map<string, string[]>();
  for (const code of PROBLEM_CODES.toSorted((one, other) => statusOf(one) - statusOf(other))) {
    const status = `${statusOf(code)} | ${grpcOf(code)}`;
    codes.set(status, [...(codes.get(status) ?? []), `\`${code}\``]);
  }
  const rows = [...codes].map(([status, names]) => [names.join(', '), ...status.split(' | ')]);
  return [['code', 'HTTP', 'gRPC'], ...rows];
}

/** The status in gRPC's spelling; refusals that are no reason of the contract are HTTP's alone. */
function grpcOf(code: ProblemCode): string {
  if (!(code in ErrorReason)) return 'HTTP only';
  const name = Code[translateError(new HoldfastError(code as RefusalCode, '')).code] ?? '';
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
}
