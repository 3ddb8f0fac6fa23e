import { t } from '../language/language.ts';
import { LinkButton } from '../ui/buttons.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { Page } from '../ui/layout/page.tsx';

/** Not-found page. */
export function Missing() {
  return (
    <Page title={t('Not found')}>
      <Empty
        icon="search"
        title={t('Page not found')}
        action={
          <LinkButton to="/" variant="filled">
            {t('Go to home')}
          </LinkButton>
        }
      >
        {t('The address is wrong, or the page was deleted.')}
      </Empty>
    </Page>
  );
}
