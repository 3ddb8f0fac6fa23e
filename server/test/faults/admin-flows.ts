import { type AdminHarness, bootstrap } from '../admin-harness.ts';
import { callOperation, newProjectObjects, operations } from '../admin-operations.ts';
import type { Flow } from './fault-lab.ts';

/** Mutations that the bootstrap token cannot call with the arguments of {@link callOperation}. */
const refused = [
  ...['beginTrial', 'finishTrial', 'testSender', 'registerDelegationKeys', 'withdrawSigningKey'],
  ...['updateCustomAttribute', 'deleteCustomAttribute', 'revertExperience'],
];

/** Every mutation of the admin API. */
export function adminFlows(harness: () => AdminHarness): Flow[] {
  let projects = 0;
  return operations
    .filter(([root, name]) => root === 'Mutation' && !refused.includes(name))
    .map(([root, name, field]) => ({
      name: `admin: ${name}`,
      again: 'anything',
      prepare: async () => {
        projects += 1;
        const { ids } = await newProjectObjects(harness(), `p${projects}`);
        return async () => {
          const { status, headers, body, errors } = await callOperation(harness(), ids, [root, field], bootstrap);
          return { status, headers, body, isSuccess: errors.length === 0 };
        };
      },
    }));
}
