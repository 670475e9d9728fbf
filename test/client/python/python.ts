import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ROOT } from '../../../.ci/sources.ts';

const run = promisify(execFile);

/** Runs Python with the client `h`; `answer` is printed as JSON, a refusal as its code and message. */
export async function python(baseUrl: string, apiKey: string, lines: readonly string[]) {
  const program = [
    'import json, sys, os',
    'from holdfast import Holdfast, HoldfastError, InvalidNotification, verify',
    'reports = []',
    'h = Holdfast(sys.argv[1], os.environ["KEY"], on_request=reports.append)',
    'try:',
    ...lines.map((line) => `    ${line}`),
    'except HoldfastError as error:',
    '    answer = {"code": error.code, "status": error.status, "requestId": error.request_id, "message": str(error)}',
    'print(json.dumps(answer))',
  ];
  const env = { ...process.env, KEY: apiKey, PYTHONPATH: `${ROOT}client/python`, PYTHONDONTWRITEBYTECODE: '1' };
  const { stdout } = await run('python3', ['-c', program.join('\n'), baseUrl], { env });
  return JSON.parse(stdout);
}
