import { Page } from '../ui/layout/page.tsx';
import { Events } from './events.tsx';

export function Component() {
  return (
    <Page title="Audit" lead="Events of this instance and all of its projects.">
      <Events path="/audit" />
    </Page>
  );
}
