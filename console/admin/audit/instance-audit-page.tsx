import { Button } from '@mantine/core';
import { Link } from 'react-router';
import { t } from '../language/language.ts';
import { Page } from '../ui/layout/page.tsx';
import { Events } from './events.tsx';

export function Component() {
  return (
    <Page
      title={t('Audit')}
      lead={t('Events of this instance and all of its projects.')}
      actions={
        <Button variant="default" component={Link} to="/log-streams">
          {t('Log streams')}
        </Button>
      }
    >
      <Events path="/audit" />
    </Page>
  );
}
