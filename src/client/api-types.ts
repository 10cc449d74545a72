// The types of the operations that answer with JSON, made from openapi.json by `npm run api:describe`.

export interface paths {
    readonly "/api/openapi.json": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** This description for programs */
        readonly get: operations["getOpenApi"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/userservice/tokens": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Get an access token
         * @description Exchanges credentials for a token, which secure operations need beside the key. Earlier tokens stay valid until they expire.
         */
        readonly post: operations["createToken"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/userservice/tokens/revoke": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Sign out
         * @description Ends a token at once. A token that is not valid any more is not an error.
         */
        readonly post: operations["revokeToken"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/userservice/accounts": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Make an account
         * @description The password has 12 characters or more and is not easy to guess. The account may read; secure operations need a grant of the operator. Where the service sends mail, the account is made when the e-mail is verified. REGISTRATION may ask for an invitation.
         */
        readonly post: operations["createAccount"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/userservice/accounts/verify": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Verify the e-mail of a new account
         * @description Makes the account that was asked for, with the code that was mailed and the password of that request. Only where the service sends mail.
         */
        readonly post: operations["verifyAccount"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/userservice/passwords": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Change the password of an account
         * @description Ends all tokens of the account and, with revoke_keys, its keys.
         */
        readonly post: operations["changePassword"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/userservice/passwords/forgotten": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Have a code for a new password mailed
         * @description The answer is the same for every e-mail; only one that has an account gets a message, usually within a minute. Where the service sends no mail, the operator gives a code.
         */
        readonly post: operations["requestPasswordReset"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/userservice/passwords/reset": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Set a new password with a code
         * @description Ends all tokens of the account and, with revoke_keys, its keys. A code is valid once.
         */
        readonly post: operations["resetPassword"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/userservice/keys": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Get an API key
         * @description Issues a key, which is shown only in this answer. An account has at most 20 keys. A key can be for reads or donations only, end at an instant, and be bound to the web origins whose pages use it.
         */
        readonly post: operations["createKey"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/userservice/keys/list": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * List the keys of an account
         * @description The keys that are not revoked: what each is for, and when it was used last, to five minutes.
         */
        readonly post: operations["listKeys"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/userservice/keys/revoke": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Revoke an API key
         * @description Ends a key of the account and all its tokens, everywhere within 5 seconds. The api_key is the key or its id in the list.
         */
        readonly post: operations["revokeKey"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/secure/givingservice/donations": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Donate with a card: tests only */
        readonly post: operations["rehearseDonation"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/secure/givingservice/donationsclient": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Donate through the client of a gateway */
        readonly post: operations["donate"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/secure/givingservice/clienttoken": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** A token for the client of a gateway */
        readonly get: operations["createClientToken"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/payments/{gateway}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Receive an event of the payment processor
         * @description For the payment processor only: its signature is checked. An event that came before is answered like the first time, without an effect. There is one address, that of the chosen gateway.
         */
        readonly post: operations["receiveWebhook"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/all/projects": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** All projects */
        readonly get: operations["listProjects"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/all/projects/summary": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** All projects, in short */
        readonly get: operations["listProjectSummaries"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/all/projects/active": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** All projects that accept donations */
        readonly get: operations["listActiveProjects"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/all/projects/active/summary": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** All projects that accept donations, in short */
        readonly get: operations["listActiveProjectSummaries"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/countries/{iso3166CountryCode}/projects": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Projects of a country */
        readonly get: operations["listProjectsOfCountry"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/countries/{iso3166CountryCode}/projects/summary": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Projects of a country, in short */
        readonly get: operations["listProjectSummariesOfCountry"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/countries/{iso3166CountryCode}/projects/active": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Projects of a country that accept donations */
        readonly get: operations["listActiveProjectsOfCountry"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/countries/{iso3166CountryCode}/projects/active/summary": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Projects of a country that accept donations, in short */
        readonly get: operations["listActiveProjectSummariesOfCountry"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/themes/{themeId}/projects": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Projects of a theme */
        readonly get: operations["listProjectsOfTheme"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/themes/{themeId}/projects/summary": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Projects of a theme, in short */
        readonly get: operations["listProjectSummariesOfTheme"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/themes/{themeId}/projects/active": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Projects of a theme that accept donations */
        readonly get: operations["listActiveProjectsOfTheme"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/themes/{themeId}/projects/active/summary": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Projects of a theme that accept donations, in short */
        readonly get: operations["listActiveProjectSummariesOfTheme"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/organizations/{organizationId}/projects": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Projects of an organisation */
        readonly get: operations["listProjectsOfOrganization"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/organizations/{organizationId}/projects/summary": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Projects of an organisation, in short */
        readonly get: operations["listProjectSummariesOfOrganization"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/organizations/{organizationId}/projects/active": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Projects of an organisation that accept donations */
        readonly get: operations["listActiveProjectsOfOrganization"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/organizations/{organizationId}/projects/active/summary": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Projects of an organisation that accept donations, in short */
        readonly get: operations["listActiveProjectSummariesOfOrganization"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/all/projects/ids": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Identifiers of all projects */
        readonly get: operations["listProjectIds"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/all/projects/active/ids": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Identifiers of all projects that accept donations */
        readonly get: operations["listActiveProjectIds"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/featured/projects": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Featured projects */
        readonly get: operations["listFeaturedProjects"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/projects/collection/ids": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Projects by identifiers */
        readonly get: operations["getProjects"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/projects/{projectId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** One project */
        readonly get: operations["getProject"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/featured/projects/summary": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Featured projects, in short */
        readonly get: operations["listFeaturedProjectSummaries"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/projects/collection/summary/ids": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Projects by identifiers, in short */
        readonly get: operations["getProjectSummaries"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/projects/{projectId}/summary": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** One project, in short */
        readonly get: operations["getProjectSummary"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/projects/{projectId}/imagegallery": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Pictures of a project */
        readonly get: operations["getProjectImages"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/services/search/projects": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Search active projects */
        readonly get: operations["searchProjects"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/services/search/projects/summary": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Search active projects, in short */
        readonly get: operations["searchProjectSummaries"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/orgservice/all/organizations": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** All organisations */
        readonly get: operations["listOrganizations"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/orgservice/all/organizations/active": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Organisations with projects that accept donations */
        readonly get: operations["listActiveOrganizations"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/orgservice/all/organizations/vetted": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Organisations that the operator vouches for */
        readonly get: operations["listVettedOrganizations"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/orgservice/organization/{organizationId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** One organisation */
        readonly get: operations["getOrganization"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/orgservice/organization/bridge/{bridgeId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** One organisation by its identifier in an external register */
        readonly get: operations["getOrganizationByBridgeId"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/themes": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Themes */
        readonly get: operations["listThemes"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/themes/projects/ids": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Themes with their projects */
        readonly get: operations["listThemesWithProjects"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/regions": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Regions */
        readonly get: operations["listRegions"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/regions/countries/projects/count": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Number of projects by region and country */
        readonly get: operations["countProjects"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/regions/countries/projects/active/count": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Number of projects that accept donations by region and country */
        readonly get: operations["countActiveProjects"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/regions/{region}/countries/projects/count": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Number of projects of a region by country */
        readonly get: operations["countProjectsOfRegion"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/regions/{region}/countries/projects/active/count": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Number of projects of a region that accept donations by country */
        readonly get: operations["countActiveProjectsOfRegion"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/projects/{projectId}/reports": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Progress reports of a project */
        readonly get: operations["getProjectReports"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/all/projects/download": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Link to a file of all projects */
        readonly get: operations["linkProjects"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/projectservice/all/projects/active/download": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Link to a file of active projects */
        readonly get: operations["linkActiveProjects"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/orgservice/all/organizations/download": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Link to a file of all organisations */
        readonly get: operations["linkOrganizations"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/orgservice/all/organizations/active/download": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Link to a file of organisations with active projects */
        readonly get: operations["linkActiveOrganizations"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/public/orgservice/all/organizations/vetted/download": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Link to a file of vetted organisations */
        readonly get: operations["linkVettedOrganizations"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/iati/activities/{identifier}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * One IATI activity
         * @description A suffix .xml or .json of the identifier decides on the format before Accept does.
         */
        readonly get: operations["getActivity"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/iati/index.json": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Where each activity lies in its file */
        readonly get: operations["getActivityIndex"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/data/datapackage.json": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** The tables with the meaning of their columns */
        readonly get: operations["getDataPackage"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/feeds/manifest.json": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** The files of the live release, with checksums */
        readonly get: operations["getManifest"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/feeds/releases.json": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** The record of every release, each linked to the one before */
        readonly get: operations["getReleaseChain"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/feeds/checked.json": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** That the live release is up to date, signed */
        readonly get: operations["getChecked"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/feeds/projects/index.json": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** The feeds of projects, with checksums */
        readonly get: operations["listProjectFeeds"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/feeds/releases/{release}/{path}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** A file of a release that is still kept */
        readonly get: operations["getKeptFile"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/feeds/status.json": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** The live release and the last publication runs */
        readonly get: operations["getStatus"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/themes.json": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Themes in JSON, without a key */
        readonly get: operations["getThemesJson"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/healthz": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Whether the process answers */
        readonly get: operations["isAlive"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/readyz": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Whether the process can work */
        readonly get: operations["isReady"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
}
export interface components {
    schemas: {
        readonly Project: {
            readonly id: number;
            readonly organization?: components["schemas"]["Organization"];
            readonly active: boolean;
            readonly title: string;
            readonly summary: string;
            readonly contactName?: string;
            readonly contactTitle?: string;
            readonly contactAddress: string;
            readonly contactAddress2?: string;
            readonly contactCity: string;
            readonly contactState: string;
            readonly contactPostal: string;
            readonly contactCountry: string;
            readonly contactUrl: string;
            readonly projectLink: string;
            readonly progressReportLink: string;
            readonly themeName: string;
            readonly country: string;
            /** @description Two letters (ISO 3166-1); empty when unknown. */
            readonly iso3166CountryCode: string;
            readonly region: string;
            /** @description An amount with two decimals. */
            readonly goal?: number;
            /** @description An amount with two decimals. */
            readonly funding: number;
            /** @description An amount with two decimals. */
            readonly remaining?: number;
            readonly numberOfDonations: number;
            /** @enum {string} */
            readonly status: "active" | "funded" | "retired";
            readonly need: string;
            readonly longTermImpact: string;
            readonly activities: string;
            readonly additionalDocumentation?: string;
            readonly notice?: string;
            readonly imageLink: string;
            readonly imageGallerySize?: number;
            readonly videos?: {
                readonly video?: readonly {
                    readonly url: string;
                }[];
            };
            readonly longitude?: number;
            readonly latitude?: number;
            /** Format: date-time */
            readonly approvedDate?: string;
            /** Format: date-time */
            readonly modifiedDate?: string;
            readonly numberOfReports: number;
            /** Format: date-time */
            readonly dateOfMostRecentReport?: string;
            readonly donationOptions?: {
                readonly donationOption?: readonly {
                    readonly amount: number;
                    readonly description: string;
                }[];
            };
            readonly image: components["schemas"]["Image"];
            readonly themes: {
                readonly theme?: readonly components["schemas"]["Theme"][];
            };
            readonly countries: {
                readonly country?: readonly components["schemas"]["Country"][];
            };
            readonly type: string;
        };
        readonly ProjectSummary: {
            readonly id: number;
            readonly organization?: components["schemas"]["Organization"];
            readonly active: boolean;
            readonly title: string;
            readonly summary: string;
            readonly themeName: string;
            readonly country: string;
            /** @description Two letters (ISO 3166-1); empty when unknown. */
            readonly iso3166CountryCode: string;
            /** @enum {string} */
            readonly status: "active" | "funded" | "retired";
            readonly imageLink: string;
            readonly donationOptions?: {
                readonly donationOption?: readonly {
                    readonly amount: number;
                    readonly description: string;
                }[];
            };
            readonly themes: {
                readonly theme?: readonly components["schemas"]["Theme"][];
            };
            readonly countries: {
                readonly country?: readonly components["schemas"]["Country"][];
            };
            readonly type: string;
        };
        readonly ProjectId: {
            readonly id: number;
        };
        readonly Organization: {
            readonly id: number;
            /** Format: int64 */
            readonly bridgeId?: number;
            readonly name: string;
            readonly ein?: string;
            readonly addressLine1?: string;
            readonly addressLine2: string;
            readonly city: string;
            readonly state: string;
            readonly postal: string;
            /** @description Two letters (ISO 3166-1); empty when unknown. */
            readonly iso3166CountryCode: string;
            readonly url: string;
            readonly logoUrl: string;
            readonly mission: string;
            readonly totalProjects: number;
            readonly activeProjects: number;
            readonly themes: {
                readonly theme?: readonly components["schemas"]["Theme"][];
            };
            readonly countries: {
                readonly country?: readonly components["schemas"]["Country"][];
            };
            readonly country: string;
        };
        readonly Theme: {
            readonly id: string;
            readonly name: string;
        };
        readonly Country: {
            readonly name: string;
            readonly iso3166CountryCode: string;
        };
        readonly Image: {
            readonly title: string;
            readonly id: number;
            /** @description Always six, smallest first. */
            readonly imagelink: readonly {
                readonly url: string;
                /** @enum {string} */
                readonly size: "small" | "thumbnail" | "medium" | "large" | "extraLarge" | "original";
            }[];
        };
        readonly Projects: {
            /** @constant */
            readonly hasNext?: true;
            readonly nextProjectId?: number;
            readonly project?: readonly components["schemas"]["Project"][];
            /** @description Size of the whole list, wherever the page begins. */
            readonly numberFound: number;
        };
        readonly ProjectSummaries: {
            /** @constant */
            readonly hasNext?: true;
            readonly nextProjectId?: number;
            readonly project?: readonly components["schemas"]["ProjectSummary"][];
            /** @description Size of the whole list, wherever the page begins. */
            readonly numberFound: number;
        };
        readonly ProjectIds: {
            /** @constant */
            readonly hasNext?: true;
            readonly nextProjectId?: number;
            readonly project?: readonly components["schemas"]["ProjectId"][];
            /** @description Size of the whole list, wherever the page begins. */
            readonly numberFound: number;
        };
        readonly Organizations: {
            /** @constant */
            readonly hasNext?: true;
            readonly nextOrgId?: number;
            readonly organization?: readonly components["schemas"]["Organization"][];
        };
        readonly Images: {
            readonly image?: readonly components["schemas"]["Image"][];
        };
        readonly Search: {
            readonly request: {
                readonly filters?: {
                    readonly filter?: readonly {
                        readonly name: string;
                        readonly value: string;
                    }[];
                };
                readonly q: string;
                readonly start: number;
                readonly summary: boolean;
            };
            readonly response: {
                readonly projects?: {
                    readonly project: readonly components["schemas"]["Project"][];
                };
                readonly start: number;
                readonly numberFound: number;
            };
        };
        readonly SearchSummary: {
            readonly request: {
                readonly filters?: {
                    readonly filter?: readonly {
                        readonly name: string;
                        readonly value: string;
                    }[];
                };
                readonly q: string;
                readonly start: number;
                readonly summary: boolean;
            };
            readonly response: {
                readonly projects?: {
                    readonly project: readonly components["schemas"]["ProjectSummary"][];
                };
                readonly start: number;
                readonly numberFound: number;
            };
        };
        readonly Themes: {
            readonly theme?: readonly components["schemas"]["Theme"][];
        };
        readonly ThemesWithProjects: {
            readonly theme?: readonly {
                readonly id: string;
                readonly name: string;
                readonly projects: {
                    readonly project?: readonly components["schemas"]["ProjectId"][];
                    readonly numberFound: number;
                };
            }[];
        };
        readonly Regions: {
            readonly region?: readonly {
                readonly name: string;
            }[];
        };
        readonly RegionCounts: {
            readonly region?: readonly {
                readonly name: string;
                readonly countries: {
                    readonly country?: readonly {
                        readonly name: string;
                        readonly iso3166CountryCode: string;
                        readonly projectCount: number;
                    }[];
                };
            }[];
        };
        readonly Download: {
            readonly url: string;
        };
        /** @description What the Atom feed says. */
        readonly ReportFeed: {
            readonly attributes: {
                readonly "xml:base": string;
            };
            readonly id: string;
            readonly title: string;
            /** Format: date-time */
            readonly updated: string;
            readonly authors: readonly {
                readonly name: string;
            }[];
            readonly links: readonly {
                readonly href: string;
                readonly rel: string;
                readonly type?: string;
            }[];
            readonly entries: readonly {
                readonly id: string;
                readonly title: string;
                readonly authors: readonly {
                    readonly name: string;
                }[];
                /** Format: date-time */
                readonly published: string;
                /** Format: date-time */
                readonly updated: string;
                /** @description HTML that is safe to show. */
                readonly content: string;
                /** @description Pictures only (rel: enclosure). */
                readonly links: readonly {
                    readonly href: string;
                    readonly rel: string;
                    readonly type?: string;
                }[];
            }[];
        };
        readonly ErrorResponse: {
            /**
             * @description The HTTP status.
             * @enum {integer}
             */
            readonly error_code: 400 | 401 | 403 | 404 | 410 | 412 | 416 | 500 | 503;
            readonly errors: {
                readonly error: readonly {
                    readonly error_message: string;
                    /** @description 101: a field or parameter is missing; 102: it has a wrong value; from 1000 on: the payment processor's code. */
                    readonly error_number?: number;
                }[];
            };
            /** @description The reason phrase. */
            readonly status: string;
        };
        readonly Manifest: {
            readonly release: string;
            readonly run: number;
            /** Format: date-time */
            readonly generated: string;
            readonly previous?: string;
            readonly previousSha256?: string;
            readonly previousReleases?: readonly {
                readonly release: string;
                readonly manifest: string;
            }[];
            readonly publisher: {
                readonly ref: string;
                readonly name: string;
            };
            readonly publisherRecord?: {
                readonly hash: string;
                /** Format: date-time */
                readonly lastUpdated: string;
                readonly inputs?: string;
            };
            readonly files: readonly {
                readonly path: string;
                readonly immutablePath: string;
                readonly mediaType: string;
                readonly records: number;
                readonly bytes: number;
                readonly gzipBytes: number;
                readonly sha256: string;
                readonly contentSha256?: string;
                /** Format: date-time */
                readonly lastModified: string;
                readonly fingerprint: string;
                readonly notices: Record<string, unknown>;
            }[];
            readonly projectFeeds: {
                readonly count: number;
                readonly index: string;
            };
            readonly held: {
                readonly count: number;
                readonly sample: readonly {
                    readonly identifier: string;
                    readonly projectId: number;
                    readonly stillPublished: boolean;
                    readonly notices: readonly {
                        readonly code: string;
                        readonly severity: string;
                        readonly path: string;
                        readonly detail: string;
                    }[];
                }[];
            };
            readonly totals: {
                readonly activities: number;
                readonly money: {
                    readonly [key: string]: string;
                };
            };
        };
        readonly Status: {
            readonly release?: string;
            /** Format: date-time */
            readonly generated?: string;
            readonly activities?: number;
            readonly held?: number;
            readonly runs: readonly {
                readonly id: number;
                readonly trigger: string;
                readonly state: string;
                readonly attempt: number;
                /** Format: date-time */
                readonly queuedAt: string;
                /** Format: date-time */
                readonly startedAt?: string;
                /** Format: date-time */
                readonly finishedAt?: string;
                readonly rendered: number;
                readonly changed: number;
                readonly held: number;
                readonly release?: string;
                readonly reason?: string;
                readonly error?: string;
            }[];
        };
        readonly Readiness: {
            readonly ready: boolean;
            readonly stopping?: boolean;
            readonly release?: string;
            readonly releaseAge?: number;
            readonly overdue?: boolean;
            /** @enum {string} */
            readonly database?: "reachable" | "unreachable";
            /** @description What needs a person: codes of giving status. */
            readonly needs?: readonly string[];
        };
    };
    responses: {
        /** @description A parameter, a header or the body is missing or wrong. */
        readonly BadRequest: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": {
                    readonly error_response: components["schemas"]["ErrorResponse"];
                };
            };
        };
        /** @description The key, the token or the credentials are missing or not valid, or the operation is not granted. */
        readonly Unauthorized: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": {
                    readonly error_response: components["schemas"]["ErrorResponse"];
                };
            };
        };
        /** @description The request came over plain HTTP from another machine. */
        readonly Forbidden: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": {
                    readonly error_response: components["schemas"]["ErrorResponse"];
                };
            };
        };
        /** @description Nothing exists at this address. */
        readonly NotFound: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": {
                    readonly error_response: components["schemas"]["ErrorResponse"];
                };
            };
        };
        /** @description The project has become inactive. */
        readonly Gone: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": {
                    readonly error_response: components["schemas"]["ErrorResponse"];
                };
            };
        };
        /** @description The file is not the one that If-Match or If-Unmodified-Since names. */
        readonly PreconditionFailed: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": {
                    readonly error_response: components["schemas"]["ErrorResponse"];
                };
            };
        };
        /** @description The range lies outside of the file. */
        readonly RangeNotSatisfiable: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": {
                    readonly error_response: components["schemas"]["ErrorResponse"];
                };
            };
        };
        /** @description A defect of the service; the message has the id of the request. */
        readonly InternalServerError: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": {
                    readonly error_response: components["schemas"]["ErrorResponse"];
                };
            };
        };
        /** @description Maintenance, overload or too many requests. */
        readonly ServiceUnavailable: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": {
                    readonly error_response: components["schemas"]["ErrorResponse"];
                };
            };
        };
    };
    parameters: {
        /** @description Identifier of the first project of the page: an inclusive lower bound. */
        readonly nextProjectId: number;
        /** @description Identifier of the first organisation of the page: an inclusive lower bound. */
        readonly nextOrgId: number;
        /** @description Records of the page; a number above 100 counts as 100. */
        readonly limit: number;
        /** @description Only records that changed at this instant (RFC 3339) or later. */
        readonly modifiedSince: string;
        /**
         * @description Project identifiers separated by commas; from the eleventh on they are ignored.
         * @example 2061,2045
         */
        readonly projectIds: string;
        /**
         * @description Words to search for ("a phrase", or, -not), at most 32; * for everything.
         * @example well
         */
        readonly q: string;
        /** @description Number of the first hit, from 0. */
        readonly start: number;
        /** @description Pairs of theme or country and a value, separated by commas, such as theme:edu,country:IN. */
        readonly filter: string;
        /** @description Only organisations that work on this theme. */
        readonly theme: string;
        /** @description Only organisations that work in this country (two letters). */
        readonly country: string;
        /** @description true or 1: everything is checked, and nothing is stored or charged. */
        readonly is_test: "true" | "false" | "1" | "0";
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export interface operations {
    readonly getOpenApi: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": Record<string, unknown>;
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly createToken: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly auth_request: {
                        readonly user: {
                            readonly email: string;
                            readonly password: string;
                        };
                        readonly api_key: string;
                    };
                };
            };
        };
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly auth_response: {
                            /** @description 40 small letters and digits. */
                            readonly access_token: string;
                        };
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly revokeToken: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly token_revocation_request: {
                        readonly api_key: string;
                        readonly access_token: string;
                    };
                };
            };
        };
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly revocation_response: {
                            /** @description Always true: the token is not valid any more. */
                            readonly revoked: boolean;
                        };
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly createAccount: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly account_request: {
                        readonly user: {
                            readonly email: string;
                            readonly password: string;
                        };
                        readonly invitation?: string;
                    };
                };
            };
        };
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly account_response: {
                            /** @description The e-mail of the account. */
                            readonly email: string;
                        };
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly verifyAccount: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly verification_request: {
                        readonly user: {
                            readonly email: string;
                            readonly password: string;
                        };
                        readonly verification_code: string;
                    };
                };
            };
        };
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly account_response: {
                            /** @description The e-mail of the account. */
                            readonly email: string;
                        };
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly changePassword: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly password_change_request: {
                        readonly user: {
                            readonly email: string;
                            readonly password: string;
                        };
                        readonly new_password: string;
                        readonly revoke_keys?: boolean | string | number;
                    };
                };
            };
        };
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly password_response: {
                            /** @description Always true: the new password is the only one. */
                            readonly changed: boolean;
                        };
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly requestPasswordReset: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly password_reset_request: {
                        readonly email: string;
                    };
                };
            };
        };
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly password_reset_response: {
                            /** @description Always true, whether the e-mail has an account or not. */
                            readonly requested: boolean;
                        };
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly resetPassword: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly new_password_request: {
                        readonly reset_code: string;
                        readonly new_password: string;
                        readonly revoke_keys?: boolean | string | number;
                    };
                };
            };
        };
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly password_response: {
                            /** @description Always true: the new password is the only one. */
                            readonly changed: boolean;
                        };
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly createKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly key_request: {
                        readonly user: {
                            readonly email: string;
                            readonly password: string;
                        };
                        readonly scope?: string;
                        readonly origins?: string;
                        readonly expires_at?: string;
                    };
                };
            };
        };
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly key_response: {
                            /** @description A UUID. */
                            readonly api_key: string;
                        };
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listKeys: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly key_list_request: {
                        readonly user: {
                            readonly email: string;
                            readonly password: string;
                        };
                    };
                };
            };
        };
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly key_list_response: {
                            /** @description Each key with its id, scope, created_at and, where there is one, expires_at, last_used_at and origins. */
                            readonly keys: {
                                readonly key?: readonly {
                                    readonly id: number;
                                    /** @enum {string} */
                                    readonly scope: "read" | "donate" | "read donate";
                                    readonly created_at: string;
                                    readonly expires_at?: string;
                                    readonly last_used_at?: string;
                                    readonly origins?: string;
                                }[];
                            };
                        };
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly revokeKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly key_revocation_request: {
                        readonly user: {
                            readonly email: string;
                            readonly password: string;
                        };
                        readonly api_key: string;
                    };
                };
            };
        };
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly revocation_response: {
                            /** @description Always true: the key is not valid any more. */
                            readonly revoked: boolean;
                        };
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly rehearseDonation: {
        readonly parameters: {
            readonly query?: {
                /** @description true or 1: everything is checked, and nothing is stored or charged. */
                readonly is_test?: components["parameters"]["is_test"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly donation: {
                        /** @description The client's own mark for where the donation comes from. */
                        readonly refcode: string | number;
                        /** @description The client's own number of the donation: the same request under the same number is charged once. */
                        readonly transactionId?: string | number;
                        /** @description The e-mail address of the donor, who gets the receipt. */
                        readonly email: string | number;
                        readonly twitter_username?: string | number;
                        /** @description Within the limits of the operator, where there are none at least 10; with no more decimals than the currency has. */
                        readonly amount: number | string;
                        /** @description The platform's only currency; absent: the same. */
                        readonly currencyCode?: string | number;
                        readonly addon?: {
                            /** @description A tip to the platform, above 0; addon may be absent. */
                            readonly amount: number | string;
                        };
                        readonly project: {
                            /** @description The identifier of an active project. */
                            readonly id: number | string;
                        };
                        /**
                         * @description The donor wants the platform's newsletter. true, false, 1 or 0.
                         * @default false
                         */
                        readonly signupForGGNewsletter?: boolean | string | number;
                        /**
                         * @description The donor wants the charity's newsletter. true, false, 1 or 0.
                         * @default false
                         */
                        readonly signupForCharityNewsletter?: boolean | string | number;
                        /** @description Ignored without the grant donation-notes. */
                        readonly noteToOrganization?: string | number;
                        /** @description Ignored without the grant partner-codes. */
                        readonly partnerCode?: string | number;
                        /** @description The donor's address, for the processor's checks against fraud. */
                        readonly ipAddress?: string | number;
                        /** @description The donor's browser, for the same. */
                        readonly userAgent?: string | number;
                        /**
                         * @deprecated
                         * @description Gift certificates are refused; an empty one is ignored.
                         */
                        readonly giftCertificate_detail?: {
                            readonly giftCertificateNumber?: string | number;
                        };
                        readonly payment_detail: {
                            readonly firstname: string | number;
                            readonly lastname: string | number;
                            readonly address?: string | number;
                            readonly address2?: string | number;
                            readonly city?: string | number;
                            readonly state?: string | number;
                            readonly iso3166CountryCode?: string | number;
                            readonly zip?: string | number;
                            readonly phone?: string | number;
                            /** @description One of the processor's published test numbers; any other is refused. */
                            readonly creditCardNumber?: string | number;
                            readonly expiryDateMonth?: string | number;
                            readonly expiryDateYear?: string | number;
                            /** @description Neither read nor stored. */
                            readonly securityCode?: string | number;
                        };
                    };
                };
            };
        };
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly donation: {
                            /** @description An amount with two decimals. */
                            readonly amount: number;
                            readonly addon?: {
                                /** @description An amount with two decimals. */
                                readonly amount: number;
                            };
                            /** @description The donation and the tip. */
                            readonly chargedAmount: number;
                            readonly currencyCode: string;
                            /** Format: date-time */
                            readonly datetime: string;
                            readonly email: string;
                            /** @description The totals of the project after the donation. */
                            readonly project: {
                                /** @description An amount with two decimals. */
                                readonly funding: number;
                                /** @description An amount with two decimals. */
                                readonly goal?: number;
                                readonly id: number;
                                readonly numberOfDonations: number;
                                readonly progressReportLink?: string;
                                readonly projectLink?: string;
                                /** @description An amount with two decimals. */
                                readonly remaining?: number;
                            };
                            readonly refcode: string;
                            readonly signupForCharityNewsletter: boolean;
                            readonly signupForGGNewsletter: boolean;
                            readonly transactionId?: string;
                            /** @constant */
                            readonly checkedOut: true;
                            readonly payment_detail: {
                                readonly firstname: string;
                                readonly lastname: string;
                                readonly address?: string;
                                readonly address2?: string;
                                readonly city?: string;
                                readonly state?: string;
                                readonly iso3166CountryCode?: string;
                                readonly zip?: string;
                                readonly phone?: string;
                                /** @description Masked. */
                                readonly creditCardNumber?: string;
                                readonly creditCardType?: string;
                                readonly expiryDateMonth?: string;
                                readonly expiryDateYear?: string;
                                /** @constant */
                                readonly securityCode?: "XXX";
                            };
                            readonly receipt: {
                                readonly currencyCode: string;
                                readonly receiptNumber: string;
                                /** @description An amount with two decimals. */
                                readonly taxDeductibleContributionAmount: number;
                                /** @description An amount with two decimals. */
                                readonly totalAmountBilled: number;
                            };
                        };
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 410: components["responses"]["Gone"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly donate: {
        readonly parameters: {
            readonly query?: {
                /** @description true or 1: everything is checked, and nothing is stored or charged. */
                readonly is_test?: components["parameters"]["is_test"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly donation: {
                        /** @description The client's own mark for where the donation comes from. */
                        readonly refcode: string | number;
                        /** @description The client's own number of the donation: the same request under the same number is charged once. */
                        readonly transactionId?: string | number;
                        /** @description The e-mail address of the donor, who gets the receipt. */
                        readonly email: string | number;
                        readonly twitter_username?: string | number;
                        /** @description Within the limits of the operator, where there are none at least 10; with no more decimals than the currency has. */
                        readonly amount: number | string;
                        /** @description The platform's only currency; absent: the same. */
                        readonly currencyCode?: string | number;
                        readonly addon?: {
                            /** @description A tip to the platform, above 0; addon may be absent. */
                            readonly amount: number | string;
                        };
                        readonly project: {
                            /** @description The identifier of an active project. */
                            readonly id: number | string;
                        };
                        /**
                         * @description The donor wants the platform's newsletter. true, false, 1 or 0.
                         * @default false
                         */
                        readonly signupForGGNewsletter?: boolean | string | number;
                        /**
                         * @description The donor wants the charity's newsletter. true, false, 1 or 0.
                         * @default false
                         */
                        readonly signupForCharityNewsletter?: boolean | string | number;
                        /** @description Ignored without the grant donation-notes. */
                        readonly noteToOrganization?: string | number;
                        /** @description Ignored without the grant partner-codes. */
                        readonly partnerCode?: string | number;
                        /** @description The donor's address, for the processor's checks against fraud. */
                        readonly ipAddress?: string | number;
                        /** @description The donor's browser, for the same. */
                        readonly userAgent?: string | number;
                        /**
                         * @deprecated
                         * @description Gift certificates are refused; an empty one is ignored.
                         */
                        readonly giftCertificate_detail?: {
                            readonly giftCertificateNumber?: string | number;
                        };
                        readonly payment_detail: {
                            readonly firstname: string | number;
                            readonly lastname: string | number;
                            readonly address?: string | number;
                            readonly address2?: string | number;
                            readonly city?: string | number;
                            readonly state?: string | number;
                            readonly iso3166CountryCode?: string | number;
                            readonly zip?: string | number;
                            readonly phone?: string | number;
                            /** @description The name of the gateway, as the operation clienttoken gives it. */
                            readonly paymentGateway: string | number;
                            /** @description The account at the gateway that the client's token was made for. */
                            readonly paymentGatewayKey: string | number;
                            /** @description What the client of the gateway gave for the card, for one payment. Either this or paymentGatewaySavedPaymentToken. */
                            readonly paymentGatewayNonce?: string | number;
                            /** @description A payment method that is stored at the gateway. */
                            readonly paymentGatewaySavedPaymentToken?: string | number;
                            /** @description What the client of the gateway collected against fraud. */
                            readonly deviceData?: string | number;
                            /** @description A 3-D Secure authentication that was already made. */
                            readonly threeDSecureAuthenticationId?: string | number;
                        };
                    };
                };
            };
        };
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly donation: {
                            /** @description An amount with two decimals. */
                            readonly amount: number;
                            readonly addon?: {
                                /** @description An amount with two decimals. */
                                readonly amount: number;
                            };
                            /** @description The donation and the tip. */
                            readonly chargedAmount: number;
                            readonly currencyCode: string;
                            /** Format: date-time */
                            readonly datetime: string;
                            readonly email: string;
                            /** @description The totals of the project after the donation. */
                            readonly project: {
                                /** @description An amount with two decimals. */
                                readonly funding: number;
                                /** @description An amount with two decimals. */
                                readonly goal?: number;
                                readonly id: number;
                                readonly numberOfDonations: number;
                                readonly progressReportLink?: string;
                                readonly projectLink?: string;
                                /** @description An amount with two decimals. */
                                readonly remaining?: number;
                            };
                            readonly refcode: string;
                            readonly signupForCharityNewsletter: boolean;
                            readonly signupForGGNewsletter: boolean;
                            readonly transactionId?: string;
                            /** @constant */
                            readonly checkedOut: true;
                            readonly receipt: {
                                readonly currencyCode: string;
                                readonly receiptNumber: string;
                                /** @description An amount with two decimals. */
                                readonly taxDeductibleContributionAmount: number;
                                /** @description An amount with two decimals. */
                                readonly totalAmountBilled: number;
                            };
                        };
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 410: components["responses"]["Gone"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly createClientToken: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly client_token: {
                            readonly paymentGateway: string;
                            readonly token: string;
                        };
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly receiveWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description The chosen gateway: braintree or stripe.
                 * @example stripe
                 */
                readonly gateway: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": Record<string, unknown>;
            };
        };
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly webhook_response: {
                            /** @enum {string} */
                            readonly outcome: "stored" | "known" | "ignored";
                        };
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listProjects: {
        readonly parameters: {
            readonly query?: {
                /** @description Identifier of the first project of the page: an inclusive lower bound. */
                readonly nextProjectId?: components["parameters"]["nextProjectId"];
                /** @description Records of the page; a number above 100 counts as 100. */
                readonly limit?: components["parameters"]["limit"];
                /** @description Only records that changed at this instant (RFC 3339) or later. */
                readonly modifiedSince?: components["parameters"]["modifiedSince"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly projects: components["schemas"]["Projects"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listProjectSummaries: {
        readonly parameters: {
            readonly query?: {
                /** @description Identifier of the first project of the page: an inclusive lower bound. */
                readonly nextProjectId?: components["parameters"]["nextProjectId"];
                /** @description Records of the page; a number above 100 counts as 100. */
                readonly limit?: components["parameters"]["limit"];
                /** @description Only records that changed at this instant (RFC 3339) or later. */
                readonly modifiedSince?: components["parameters"]["modifiedSince"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly projects: components["schemas"]["ProjectSummaries"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listActiveProjects: {
        readonly parameters: {
            readonly query?: {
                /** @description Identifier of the first project of the page: an inclusive lower bound. */
                readonly nextProjectId?: components["parameters"]["nextProjectId"];
                /** @description Records of the page; a number above 100 counts as 100. */
                readonly limit?: components["parameters"]["limit"];
                /** @description Only records that changed at this instant (RFC 3339) or later. */
                readonly modifiedSince?: components["parameters"]["modifiedSince"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly projects: components["schemas"]["Projects"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listActiveProjectSummaries: {
        readonly parameters: {
            readonly query?: {
                /** @description Identifier of the first project of the page: an inclusive lower bound. */
                readonly nextProjectId?: components["parameters"]["nextProjectId"];
                /** @description Records of the page; a number above 100 counts as 100. */
                readonly limit?: components["parameters"]["limit"];
                /** @description Only records that changed at this instant (RFC 3339) or later. */
                readonly modifiedSince?: components["parameters"]["modifiedSince"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly projects: components["schemas"]["ProjectSummaries"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listProjectsOfCountry: {
        readonly parameters: {
            readonly query?: {
                /** @description Identifier of the first project of the page: an inclusive lower bound. */
                readonly nextProjectId?: components["parameters"]["nextProjectId"];
                /** @description Records of the page; a number above 100 counts as 100. */
                readonly limit?: components["parameters"]["limit"];
                /** @description Only records that changed at this instant (RFC 3339) or later. */
                readonly modifiedSince?: components["parameters"]["modifiedSince"];
            };
            readonly header?: never;
            readonly path: {
                /**
                 * @description Two letters (ISO 3166-1), in any letter case.
                 * @example SL
                 */
                readonly iso3166CountryCode: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly projects: components["schemas"]["Projects"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listProjectSummariesOfCountry: {
        readonly parameters: {
            readonly query?: {
                /** @description Identifier of the first project of the page: an inclusive lower bound. */
                readonly nextProjectId?: components["parameters"]["nextProjectId"];
                /** @description Records of the page; a number above 100 counts as 100. */
                readonly limit?: components["parameters"]["limit"];
                /** @description Only records that changed at this instant (RFC 3339) or later. */
                readonly modifiedSince?: components["parameters"]["modifiedSince"];
            };
            readonly header?: never;
            readonly path: {
                /**
                 * @description Two letters (ISO 3166-1), in any letter case.
                 * @example SL
                 */
                readonly iso3166CountryCode: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly projects: components["schemas"]["ProjectSummaries"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listActiveProjectsOfCountry: {
        readonly parameters: {
            readonly query?: {
                /** @description Identifier of the first project of the page: an inclusive lower bound. */
                readonly nextProjectId?: components["parameters"]["nextProjectId"];
                /** @description Records of the page; a number above 100 counts as 100. */
                readonly limit?: components["parameters"]["limit"];
                /** @description Only records that changed at this instant (RFC 3339) or later. */
                readonly modifiedSince?: components["parameters"]["modifiedSince"];
            };
            readonly header?: never;
            readonly path: {
                /**
                 * @description Two letters (ISO 3166-1), in any letter case.
                 * @example SL
                 */
                readonly iso3166CountryCode: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly projects: components["schemas"]["Projects"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listActiveProjectSummariesOfCountry: {
        readonly parameters: {
            readonly query?: {
                /** @description Identifier of the first project of the page: an inclusive lower bound. */
                readonly nextProjectId?: components["parameters"]["nextProjectId"];
                /** @description Records of the page; a number above 100 counts as 100. */
                readonly limit?: components["parameters"]["limit"];
                /** @description Only records that changed at this instant (RFC 3339) or later. */
                readonly modifiedSince?: components["parameters"]["modifiedSince"];
            };
            readonly header?: never;
            readonly path: {
                /**
                 * @description Two letters (ISO 3166-1), in any letter case.
                 * @example SL
                 */
                readonly iso3166CountryCode: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly projects: components["schemas"]["ProjectSummaries"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listProjectsOfTheme: {
        readonly parameters: {
            readonly query?: {
                /** @description Identifier of the first project of the page: an inclusive lower bound. */
                readonly nextProjectId?: components["parameters"]["nextProjectId"];
                /** @description Records of the page; a number above 100 counts as 100. */
                readonly limit?: components["parameters"]["limit"];
                /** @description Only records that changed at this instant (RFC 3339) or later. */
                readonly modifiedSince?: components["parameters"]["modifiedSince"];
            };
            readonly header?: never;
            readonly path: {
                /**
                 * @description Identifier of a theme.
                 * @example water
                 */
                readonly themeId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly projects: components["schemas"]["Projects"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listProjectSummariesOfTheme: {
        readonly parameters: {
            readonly query?: {
                /** @description Identifier of the first project of the page: an inclusive lower bound. */
                readonly nextProjectId?: components["parameters"]["nextProjectId"];
                /** @description Records of the page; a number above 100 counts as 100. */
                readonly limit?: components["parameters"]["limit"];
                /** @description Only records that changed at this instant (RFC 3339) or later. */
                readonly modifiedSince?: components["parameters"]["modifiedSince"];
            };
            readonly header?: never;
            readonly path: {
                /**
                 * @description Identifier of a theme.
                 * @example water
                 */
                readonly themeId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly projects: components["schemas"]["ProjectSummaries"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listActiveProjectsOfTheme: {
        readonly parameters: {
            readonly query?: {
                /** @description Identifier of the first project of the page: an inclusive lower bound. */
                readonly nextProjectId?: components["parameters"]["nextProjectId"];
                /** @description Records of the page; a number above 100 counts as 100. */
                readonly limit?: components["parameters"]["limit"];
                /** @description Only records that changed at this instant (RFC 3339) or later. */
                readonly modifiedSince?: components["parameters"]["modifiedSince"];
            };
            readonly header?: never;
            readonly path: {
                /**
                 * @description Identifier of a theme.
                 * @example water
                 */
                readonly themeId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly projects: components["schemas"]["Projects"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listActiveProjectSummariesOfTheme: {
        readonly parameters: {
            readonly query?: {
                /** @description Identifier of the first project of the page: an inclusive lower bound. */
                readonly nextProjectId?: components["parameters"]["nextProjectId"];
                /** @description Records of the page; a number above 100 counts as 100. */
                readonly limit?: components["parameters"]["limit"];
                /** @description Only records that changed at this instant (RFC 3339) or later. */
                readonly modifiedSince?: components["parameters"]["modifiedSince"];
            };
            readonly header?: never;
            readonly path: {
                /**
                 * @description Identifier of a theme.
                 * @example water
                 */
                readonly themeId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly projects: components["schemas"]["ProjectSummaries"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listProjectsOfOrganization: {
        readonly parameters: {
            readonly query?: {
                /** @description Identifier of the first project of the page: an inclusive lower bound. */
                readonly nextProjectId?: components["parameters"]["nextProjectId"];
                /** @description Records of the page; a number above 100 counts as 100. */
                readonly limit?: components["parameters"]["limit"];
                /** @description Only records that changed at this instant (RFC 3339) or later. */
                readonly modifiedSince?: components["parameters"]["modifiedSince"];
            };
            readonly header?: never;
            readonly path: {
                /**
                 * @description Identifier of an organisation.
                 * @example 318
                 */
                readonly organizationId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly projects: components["schemas"]["Projects"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listProjectSummariesOfOrganization: {
        readonly parameters: {
            readonly query?: {
                /** @description Identifier of the first project of the page: an inclusive lower bound. */
                readonly nextProjectId?: components["parameters"]["nextProjectId"];
                /** @description Records of the page; a number above 100 counts as 100. */
                readonly limit?: components["parameters"]["limit"];
                /** @description Only records that changed at this instant (RFC 3339) or later. */
                readonly modifiedSince?: components["parameters"]["modifiedSince"];
            };
            readonly header?: never;
            readonly path: {
                /**
                 * @description Identifier of an organisation.
                 * @example 318
                 */
                readonly organizationId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly projects: components["schemas"]["ProjectSummaries"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listActiveProjectsOfOrganization: {
        readonly parameters: {
            readonly query?: {
                /** @description Identifier of the first project of the page: an inclusive lower bound. */
                readonly nextProjectId?: components["parameters"]["nextProjectId"];
                /** @description Records of the page; a number above 100 counts as 100. */
                readonly limit?: components["parameters"]["limit"];
                /** @description Only records that changed at this instant (RFC 3339) or later. */
                readonly modifiedSince?: components["parameters"]["modifiedSince"];
            };
            readonly header?: never;
            readonly path: {
                /**
                 * @description Identifier of an organisation.
                 * @example 318
                 */
                readonly organizationId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly projects: components["schemas"]["Projects"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listActiveProjectSummariesOfOrganization: {
        readonly parameters: {
            readonly query?: {
                /** @description Identifier of the first project of the page: an inclusive lower bound. */
                readonly nextProjectId?: components["parameters"]["nextProjectId"];
                /** @description Records of the page; a number above 100 counts as 100. */
                readonly limit?: components["parameters"]["limit"];
                /** @description Only records that changed at this instant (RFC 3339) or later. */
                readonly modifiedSince?: components["parameters"]["modifiedSince"];
            };
            readonly header?: never;
            readonly path: {
                /**
                 * @description Identifier of an organisation.
                 * @example 318
                 */
                readonly organizationId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly projects: components["schemas"]["ProjectSummaries"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listProjectIds: {
        readonly parameters: {
            readonly query?: {
                /** @description Only records that changed at this instant (RFC 3339) or later. */
                readonly modifiedSince?: components["parameters"]["modifiedSince"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly projects: components["schemas"]["ProjectIds"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listActiveProjectIds: {
        readonly parameters: {
            readonly query?: {
                /** @description Only records that changed at this instant (RFC 3339) or later. */
                readonly modifiedSince?: components["parameters"]["modifiedSince"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly projects: components["schemas"]["ProjectIds"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listFeaturedProjects: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly projects: components["schemas"]["Projects"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getProjects: {
        readonly parameters: {
            readonly query: {
                /**
                 * @description Project identifiers separated by commas; from the eleventh on they are ignored.
                 * @example 2061,2045
                 */
                readonly projectIds: components["parameters"]["projectIds"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly projects: components["schemas"]["Projects"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 410: components["responses"]["Gone"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getProject: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Identifier of a project.
                 * @example 2045
                 */
                readonly projectId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly project: components["schemas"]["Project"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 410: components["responses"]["Gone"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listFeaturedProjectSummaries: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly projects: components["schemas"]["ProjectSummaries"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getProjectSummaries: {
        readonly parameters: {
            readonly query: {
                /**
                 * @description Project identifiers separated by commas; from the eleventh on they are ignored.
                 * @example 2061,2045
                 */
                readonly projectIds: components["parameters"]["projectIds"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly projects: components["schemas"]["ProjectSummaries"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 410: components["responses"]["Gone"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getProjectSummary: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Identifier of a project.
                 * @example 2045
                 */
                readonly projectId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly project: components["schemas"]["ProjectSummary"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 410: components["responses"]["Gone"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getProjectImages: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Identifier of a project.
                 * @example 2045
                 */
                readonly projectId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly images: components["schemas"]["Images"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 410: components["responses"]["Gone"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly searchProjects: {
        readonly parameters: {
            readonly query: {
                /**
                 * @description Words to search for ("a phrase", or, -not), at most 32; * for everything.
                 * @example well
                 */
                readonly q: components["parameters"]["q"];
                /** @description Number of the first hit, from 0. */
                readonly start?: components["parameters"]["start"];
                /** @description Pairs of theme or country and a value, separated by commas, such as theme:edu,country:IN. */
                readonly filter?: components["parameters"]["filter"];
                /** @description Records of the page; a number above 100 counts as 100. */
                readonly limit?: components["parameters"]["limit"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly search: components["schemas"]["Search"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly searchProjectSummaries: {
        readonly parameters: {
            readonly query: {
                /**
                 * @description Words to search for ("a phrase", or, -not), at most 32; * for everything.
                 * @example well
                 */
                readonly q: components["parameters"]["q"];
                /** @description Number of the first hit, from 0. */
                readonly start?: components["parameters"]["start"];
                /** @description Pairs of theme or country and a value, separated by commas, such as theme:edu,country:IN. */
                readonly filter?: components["parameters"]["filter"];
                /** @description Records of the page; a number above 100 counts as 100. */
                readonly limit?: components["parameters"]["limit"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly search: components["schemas"]["SearchSummary"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listOrganizations: {
        readonly parameters: {
            readonly query?: {
                /** @description Identifier of the first organisation of the page: an inclusive lower bound. */
                readonly nextOrgId?: components["parameters"]["nextOrgId"];
                /** @description Records of the page; a number above 100 counts as 100. */
                readonly limit?: components["parameters"]["limit"];
                /** @description Only records that changed at this instant (RFC 3339) or later. */
                readonly modifiedSince?: components["parameters"]["modifiedSince"];
                /** @description Only organisations that work on this theme. */
                readonly theme?: components["parameters"]["theme"];
                /** @description Only organisations that work in this country (two letters). */
                readonly country?: components["parameters"]["country"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly organizations: components["schemas"]["Organizations"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listActiveOrganizations: {
        readonly parameters: {
            readonly query?: {
                /** @description Identifier of the first organisation of the page: an inclusive lower bound. */
                readonly nextOrgId?: components["parameters"]["nextOrgId"];
                /** @description Records of the page; a number above 100 counts as 100. */
                readonly limit?: components["parameters"]["limit"];
                /** @description Only records that changed at this instant (RFC 3339) or later. */
                readonly modifiedSince?: components["parameters"]["modifiedSince"];
                /** @description Only organisations that work on this theme. */
                readonly theme?: components["parameters"]["theme"];
                /** @description Only organisations that work in this country (two letters). */
                readonly country?: components["parameters"]["country"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly organizations: components["schemas"]["Organizations"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listVettedOrganizations: {
        readonly parameters: {
            readonly query?: {
                /** @description Identifier of the first organisation of the page: an inclusive lower bound. */
                readonly nextOrgId?: components["parameters"]["nextOrgId"];
                /** @description Records of the page; a number above 100 counts as 100. */
                readonly limit?: components["parameters"]["limit"];
                /** @description Only records that changed at this instant (RFC 3339) or later. */
                readonly modifiedSince?: components["parameters"]["modifiedSince"];
                /** @description Only organisations that work on this theme. */
                readonly theme?: components["parameters"]["theme"];
                /** @description Only organisations that work in this country (two letters). */
                readonly country?: components["parameters"]["country"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly organizations: components["schemas"]["Organizations"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getOrganization: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Identifier of an organisation.
                 * @example 318
                 */
                readonly organizationId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly organization: components["schemas"]["Organization"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getOrganizationByBridgeId: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Identifier of an organisation in an external register.
                 * @example 9007199254740993
                 */
                readonly bridgeId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly organization: components["schemas"]["Organization"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listThemes: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly themes: components["schemas"]["Themes"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listThemesWithProjects: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly themes: components["schemas"]["ThemesWithProjects"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listRegions: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly regions: components["schemas"]["Regions"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly countProjects: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly regions: components["schemas"]["RegionCounts"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly countActiveProjects: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly regions: components["schemas"]["RegionCounts"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly countProjectsOfRegion: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Name of a region; a slash in it need not be encoded.
                 * @example Africa
                 */
                readonly region: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly regions: components["schemas"]["RegionCounts"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly countActiveProjectsOfRegion: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Name of a region; a slash in it need not be encoded.
                 * @example Africa
                 */
                readonly region: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly regions: components["schemas"]["RegionCounts"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getProjectReports: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Identifier of a project.
                 * @example 2045
                 */
                readonly projectId: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ReportFeed"];
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 410: components["responses"]["Gone"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly linkProjects: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly download: components["schemas"]["Download"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly linkActiveProjects: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly download: components["schemas"]["Download"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly linkOrganizations: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly download: components["schemas"]["Download"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly linkActiveOrganizations: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly download: components["schemas"]["Download"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly linkVettedOrganizations: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly download: components["schemas"]["Download"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 401: components["responses"]["Unauthorized"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getActivity: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description An IATI identifier.
                 * @example US-EIN-123456789-2045
                 */
                readonly identifier: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": Record<string, unknown>;
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 404: components["responses"]["NotFound"];
            readonly 410: components["responses"]["Gone"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getActivityIndex: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": Record<string, unknown>;
                };
            };
            /** @description The part that Range asks for. */
            readonly 206: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": unknown;
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 404: components["responses"]["NotFound"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 416: components["responses"]["RangeNotSatisfiable"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getDataPackage: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": Record<string, unknown>;
                };
            };
            /** @description The part that Range asks for. */
            readonly 206: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": unknown;
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 404: components["responses"]["NotFound"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 416: components["responses"]["RangeNotSatisfiable"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getManifest: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Manifest"];
                };
            };
            /** @description The part that Range asks for. */
            readonly 206: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": unknown;
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 416: components["responses"]["RangeNotSatisfiable"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getReleaseChain: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": Record<string, unknown>;
                };
            };
            /** @description The part that Range asks for. */
            readonly 206: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": unknown;
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 404: components["responses"]["NotFound"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 416: components["responses"]["RangeNotSatisfiable"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getChecked: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": Record<string, unknown>;
                };
            };
            /** @description The part that Range asks for. */
            readonly 206: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": unknown;
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 404: components["responses"]["NotFound"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 416: components["responses"]["RangeNotSatisfiable"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly listProjectFeeds: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly Record<string, unknown>[];
                };
            };
            /** @description The part that Range asks for. */
            readonly 206: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": unknown;
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 404: components["responses"]["NotFound"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 416: components["responses"]["RangeNotSatisfiable"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getKeptFile: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /**
                 * @description Identifier of a release.
                 * @example 20261121T020000Z-2
                 */
                readonly release: string;
                /**
                 * @description Address of a file of the release; it may have slashes.
                 * @example iati/activities.xml
                 */
                readonly path: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": unknown;
                };
            };
            /** @description The part that Range asks for. */
            readonly 206: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": unknown;
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 404: components["responses"]["NotFound"];
            readonly 412: components["responses"]["PreconditionFailed"];
            readonly 416: components["responses"]["RangeNotSatisfiable"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getStatus: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Status"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly getThemesJson: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly themes: components["schemas"]["Themes"];
                    };
                };
            };
            /** @description The copy of the client is still right; no body. */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["BadRequest"];
            readonly 500: components["responses"]["InternalServerError"];
            readonly 503: components["responses"]["ServiceUnavailable"];
        };
    };
    readonly isAlive: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        /** @constant */
                        readonly status: "alive";
                    };
                };
            };
            readonly 400: components["responses"]["BadRequest"];
        };
    };
    readonly isReady: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Readiness"];
                };
            };
            readonly 400: components["responses"]["BadRequest"];
            /** @description Not ready, with what is missing. */
            readonly 503: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Readiness"];
                };
            };
        };
    };
}
