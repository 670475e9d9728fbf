import { useEffect, useState } from 'preact/hooks';
import { signOut } from './api.js';
import { DeliveryView } from './deliveries/delivery-view.js';
import { HoldView } from './holds/hold-view.js';
import * as lists from './lists.js';
import { MerchantView } from './merchants/merchant-view.js';
import { OperationView } from './operations/operation-view.js';
import { OverviewView } from './overview/overview-view.js';
import { SearchBox, SearchView } from './search/search-view.js';
import { Notices, notify } from './shell/dialog.js';
import { linkTo, useRoute } from './shell/route.js';
import { html, View } from './shell/view.js';

/** The views, in the order of the navigation: path, name there, the view, and the view of one item. */
const VIEWS = [
  ['', 'Overview', OverviewView],
  ['holds', 'Holds', lists.HoldsView, HoldView],
  ['operations', 'Operations', lists.OperationsView, OperationView],
  ['deliveries', 'Deliveries', lists.DeliveriesView, DeliveryView],
  ['endpoints', 'Endpoints', lists.EndpointsView],
  ['relay', 'Relay failures', lists.FailuresView],
  ['notifications', 'Accepted', lists.StoredView],
  ['quarantine', 'Quarantine', lists.QuarantineView],
  ['reviews', 'Needs attention', lists.ReviewsView],
  ['merchants', 'Merchants', lists.MerchantsView, MerchantView],
  ['audit', 'Audit log', lists.AuditView],
  ['search', undefined, SearchView],
];

export function Frame({ onSignedOut }) {
  const { path, query } = useRoute();
  const [isOpen, setOpen] = useState(false);
  const [section = '', id] = path;
  useEffect(() => setOpen(false), [section, id]);
  const [, , List, One] = VIEWS.find(([name]) => name === section) ?? [];
  const Shown = (id === undefined ? List : One) ?? Nothing;
  const leave = () => signOut().then(onSignedOut, (error) => notify(`Not signed out: ${error.message}`));
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return html`
    <a class="skip" href="#content" onClick=${skip}>Skip to content</a>
    <header class="bar">
      <p class="brand"><a href="#/">Holdfast</a></p>
      <button type="button" class="menu" aria-expanded=${isOpen} aria-controls="navigation"
        onClick=${() => setOpen(!isOpen)}>
        Menu
      </button>
      <${SearchBox} />
      <nav id="navigation" class=${isOpen ? 'open' : ''} aria-label="Console">
        <ul>
          ${VIEWS.filter(([, text]) => text).map(
            ([name, text]) => html`<li>
              <a href=${linkTo([name].filter(Boolean))} aria-current=${name === section ? 'page' : null}>${text}</a>
            </li>`,
          )}
        </ul>
        <button type="button" onClick=${leave}>Sign out</button>
      </nav>
    </header>
    <main id="content" key=${path.join('/')}>
      <${Shown} id=${id} query=${query} />
    </main>
    <footer class="quiet">
      ${zone === 'UTC' ? 'Times are UTC.' : `Times are local (${zone}); hover over one to see it in UTC.`}
    </footer>
    <${Notices} />
  `;
}

function Nothing() {
  return html`<${View} title="Nothing here"><p>No view has this address.</p><//>`;
}

/** The address names the view, so the link may not change it. */
function skip(event) {
  event.preventDefault();
  document.querySelector('main h1')?.focus();
}
