import assert from 'node:assert/strict';
import cluster from 'node:cluster';
import { startProcesses } from '../../gateway/processes.ts';
import { Stage } from './stage.ts';

describe('startProcesses()', () => {
  it('stops when a process has died so shortly before that its channel is still open', async () => {
    const program = 'process.on("message", () => {}); process.send({ ready: true });';
    cluster.setupPrimary({ exec: '-e', args: [program], execArgv: [] });
    const running = startProcesses(1, new Stage().log);
    await running.ready;
    const [worker] = Object.values(cluster.workers ?? {});
    assert(worker);
    // Until the channel is closed, the cluster lists the process.
    worker.isConnected = () => true;
    const closed = new Promise((resolve) => worker.once('exit', () => resolve(running.close())));
    worker.process.kill('SIGKILL');
    await closed;
  });
});
